import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { MemoryError } from "../errors.js";
import { stopSignal } from "./use-memory.js";

/** For running calls. */
const lastCallsMs = 10_000;

interface Served {
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly ending: AbortController;
  readonly listening: (origin: string) => void;
}

/** Running calls end before it resolves. @throws MemoryError `PEER_MISSING` */
export async function serveUntilStopped({ fetch, host, port, ending, listening }: Served): Promise<void> {
  const node = await peers("@hono/node-server", () => import("@hono/node-server"));
  const server = node.createAdaptorServer({ fetch });
  // Imports may take long; the app limits every other body.
  if ("requestTimeout" in server) server.requestTimeout = 0;
  server.listen(port, host);
  await once(server, "listening");
  listening(`http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`);
  await stopSignal();
  ending.abort(new MemoryError("CLOSED", "The server ends."));
  const closed = new Promise((resolve) => server.close(resolve));
  const timer = setTimeout(
    () => "closeAllConnections" in server && server.closeAllConnections(),
    lastCallsMs,
  );
  if ("closeIdleConnections" in server) server.closeIdleConnections();
  await closed;
  clearTimeout(timer);
}

/** @throws MemoryError `PEER_MISSING` */
export async function peers<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const what = `This needs packages that are not installed: npm install ${name}`;
    throw new MemoryError("PEER_MISSING", what, { cause });
  }
}
