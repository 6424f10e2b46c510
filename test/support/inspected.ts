import { existsSync, statSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { buildInspector, inspectorSources, newestSource } from "../../scripts/build-inspector.js";
import { createInspectorSession } from "../../src/http/inspector-session.js";
import { createMemoryApp } from "../../src/http/memory-app.js";
import type { Memory } from "../../src/memory.js";
import { silentLogger } from "./silent-logger.js";

/** Builds the page where it is not there, or is older than its sources. */
export async function buildPageOnce(): Promise<void> {
  const folder = join(inspectorSources, "../dist/inspector");
  const page = join(folder, "index.html");
  if (!existsSync(page) || statSync(page).mtimeMs < newestSource()) await buildInspector(folder);
}

/** A server as `mnemograph inspect` has it, and the address that it prints. */
export async function openInspected(memory: Memory): Promise<{
  readonly origin: string;
  readonly address: string;
  close(): Promise<void>;
}> {
  await buildPageOnce();
  const session = createInspectorSession("joe");
  const { authenticate } = session;
  const api = createMemoryApp(memory, { authenticate, inspector: true, logger: silentLogger });
  const page = { fetch: session.before((request, env) => api.fetch(request, env as object)) };
  const server = createAdaptorServer({ fetch: page.fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    address: `${origin}/inspector/#token=${session.token}`,
    async close() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
