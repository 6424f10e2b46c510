import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import type { MemoryAppOptions } from "../../packages/server/src/http/app-options.js";
import { createInspectorSession } from "../../packages/server/src/http/inspector-session.js";
import { createMemoryApp } from "../../packages/server/src/http/memory-app.js";
import { buildInspector, inspectorSources, newestSource } from "../../scripts/build-inspector.js";
import type { Memory } from "../../src/memory.js";
import { listen } from "./free-port.js";
import { silentLogger } from "./silent-logger.js";

/** Builds the page if it is missing or older than its sources. */
export async function buildPageOnce(): Promise<void> {
  const folder = join(inspectorSources, "../dist/inspector");
  const page = join(folder, "index.html");
  if (!existsSync(page) || statSync(page).mtimeMs < newestSource()) await buildInspector(folder);
}

interface InspectedOptions {
  /** Whom it lets in. @default who has the address that it prints */
  readonly authenticate?: MemoryAppOptions["authenticate"];
  /** Answers each request, which is named by its method and path. */
  readonly around?: (route: string, answer: () => Answer) => Answer;
}

type Answer = Response | Promise<Response>;

/** A server like that of `mnemograph inspect`, and the address that it prints. */
export async function openInspected(
  memory: Memory,
  { authenticate: own, around = (_, answer) => answer() }: InspectedOptions = {},
) {
  await buildPageOnce();
  const { authenticate: ofSession, before, token } = createInspectorSession("joe");
  const authenticate = own ?? ofSession;
  const api = createMemoryApp(memory, { authenticate, inspector: true, logger: silentLogger });
  const server = createAdaptorServer({
    fetch: before((request, env) => {
      const route = `${request.method} ${new URL(request.url).pathname}`;
      return around(route, () => api.fetch(request, env as object));
    }),
  });
  const origin = `http://127.0.0.1:${await listen(server)}`;
  return {
    origin,
    address: `${origin}/inspector/#token=${token}`,
    async close() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
