import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { MemoryError } from "../errors.js";
import { stopSignal } from "./use-memory.js";

/** How long calls that are under way may take to end, in ms. */
const lastCallsMs = 10_000;

/** What is served, and where. */
interface Served {
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Aborted when the process is asked to end. */
  readonly ending: AbortController;
  /** Called once the server listens. */
  readonly listening: (origin: string) => void;
}

/** Serves `fetch` until a signal ends the process; calls that are under way end before it resolves. @throws MemoryError `PEER_MISSING` */
export async function serveUntilStopped({ fetch, host, port, ending, listening }: Served): Promise<void> {
  const node = await peers("@hono/node-server", () => import("@hono/node-server"));
  const server = node.createAdaptorServer({ fetch });
  // An import may take long; every other body has the app's own limit.
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

/** `load`, of which the package `name` may be missing. @throws MemoryError `PEER_MISSING` */
export async function peers<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const what = `This needs packages that are not installed: npm install ${name}`;
    throw new MemoryError("PEER_MISSING", what, { cause });
  }
}
