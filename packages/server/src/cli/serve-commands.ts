import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { userInfo } from "node:os";
import type { MemoryAppOptions } from "../http/app-options.js";
import {
  type CliCommand,
  type MemoryFlags,
  wholeNumber,
  withMemoryFlags,
  withModel,
  withScope,
} from "./flags.js";
import { WrongUse } from "./output.js";
import { stopSignal, useMemory, useScope } from "./use-memory.js";

type ServeFlags = MemoryFlags & { host: string; port: number; auth?: string; mcp?: true };

export const serveCommand: CliCommand = {
  name: "serve",
  description:
    "answer the HTTP API, described at /openapi.json; without authentication for this machine only",
  examples: [
    ["serve", "for programs of this machine"],
    ["serve --host 0.0.0.0 --auth ./auth.js", "for callers that a module authenticates"],
  ],
  flags: (command) =>
    withModel(withMemoryFlags(command))
      .option("--host <address>", "where to listen", "127.0.0.1")
      .option("--port <number>", "the port", wholeNumber(65_535), 8_787)
      .option(
        "--auth <module>",
        "a file or package that exports a function `authenticate` (default: operators by MNEMOGRAPH_TOKEN, if it is set)",
      )
      .option("--mcp", "answer the Model Context Protocol at /mcp as well"),
  run: serve,
};

/**
 * @throws MemoryError `INVALID_INPUT` for a public address without authentication
 */
async function serve(flags: ServeFlags): Promise<void> {
  const { host } = flags;
  const authenticate = await authenticateOf(flags);
  const isLoopback =
    host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  if (authenticate === undefined && !isLoopback) {
    const hint = "Authenticate them by --auth or MNEMOGRAPH_TOKEN, or listen at 127.0.0.1.";
    throw new WrongUse(`Other machines reach ${host}. ${hint}`);
  }
  const { createMemoryApp } = await import("../http/memory-app.js");
  const mcp = flags.mcp && (await import("../mcp/mcp-handler.js"));
  await useMemory(flags, async (memory) => {
    const ending = new AbortController();
    const { fetch } = createMemoryApp(memory, {
      signal: ending.signal,
      ...(authenticate && { authenticate }),
      ...(mcp && { mcp: mcp.mcpHandler(memory) }),
    });
    const onListening = (origin: string) => void process.stderr.write(`Listening at ${origin}\n`);
    await serveUntilStopped(fetch, flags, ending, onListening);
  });
}

async function authenticateOf({ auth }: ServeFlags): Promise<MemoryAppOptions["authenticate"]> {
  if (auth !== undefined) {
    const { loadExport } = await import("./open-memory.js");
    return loadExport(auth, "authenticate");
  }
  const token = process.env.MNEMOGRAPH_TOKEN;
  if (!token) return undefined;
  const { bearerTokens } = await import("../http/authenticate.js");
  return bearerTokens({ [token]: { role: "operator" } });
}

export const mcpCommand: CliCommand = {
  name: "mcp",
  description:
    "answer the Model Context Protocol over standard input and output, for one user or app",
  examples: [["mcp --user ana", "a client runs this, and its model has ana's memory"]],
  flags: (command) =>
    withMemoryFlags(withScope(command)).option(
      "--agent <name>",
      "only the categories that this agent may read",
    ),
  async run(flags: MemoryFlags & { readonly agent?: string }) {
    const { createMcpServer } = await import("../mcp/memory-server.js");
    const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
    const { agent } = flags;
    await useScope(flags, async (memory, scope) => {
      const server = serveStdio(() =>
        createMcpServer(memory, { scope, ...(agent !== undefined && { agent }) }),
      );
      await Promise.race([once(process.stdin, "end"), once(process.stdin, "close"), stopSignal()]);
      await server.close();
    });
  },
};

export const inspectCommand: CliCommand = {
  name: "inspect",
  description: "show what is remembered, and why, in a browser on this machine; change it there",
  examples: [
    ["inspect", "prints an address that is good for one visit"],
    ["inspect --user ana --operator joe", "begins with ana; the audit trail names joe"],
  ],
  flags: (command) =>
    withMemoryFlags(withScope(command, "begin with this user"))
      .option("--port <number>", "the port (default: any that is free)", wholeNumber(65_535))
      .option(
        "--operator <name>",
        "the actor in the audit trail (default: the name of your login)",
      ),
  run: serveInspector,
};

async function serveInspector(
  flags: MemoryFlags & { port?: number; operator?: string },
): Promise<void> {
  const { tenant, user, app, port = 0, operator = userInfo().username } = flags;
  const { createMemoryApp } = await import("../http/memory-app.js");
  const { isLocal } = await import("../http/authenticate.js");
  const { defined } = await import("mnemograph/contract");
  const { createInspectorSession } = await import("../http/inspector-session.js");
  if (flags.embeddings === undefined && (await hasUnusedVectors(flags)))
    process.stderr.write(
      "Meaning is not searched here, although memories have vectors: start it with --embeddings MODULE.\n",
    );
  await useMemory(flags, async (memory) => {
    const ending = new AbortController();
    const { token, authenticate, before } = createInspectorSession(operator);
    const api = createMemoryApp(memory, { signal: ending.signal, authenticate, inspector: true });
    const serve = before((request, env) => api.fetch(request, env as object));
    const refused = () => new Response("This is for a browser on this machine.\n", { status: 403 });
    // Refuses rebound names, other machines and proxies.
    const fetch = (request: Request, env: unknown) =>
      isLocal(request, env) ? serve(request, env) : refused();
    const onListening = (origin: string) => {
      const named = new URLSearchParams(defined({ token, tenant, user, app }));
      process.stderr.write(
        "Open this in a browser on this machine. It is good for one visit; Ctrl+C ends it.\n",
      );
      process.stdout.write(`${origin}/inspector/#${named}\n`);
    };
    await serveUntilStopped(fetch, { host: "127.0.0.1", port }, ending, onListening);
  });
}

/** Says nothing of a database that does not answer: whoever opens it next does. */
async function hasUnusedVectors(flags: MemoryFlags): Promise<boolean> {
  const { existingDatabase, onDatabase } = await import("./open-memory.js");
  const { keepsVectors } = await import("mnemograph/contract");
  const { option } = existingDatabase(flags);
  return onDatabase(option, { schemaName: flags.schema }, keepsVectors).catch(() => false);
}

/** Time for running calls to end. */
const lastCallsMs = 10_000;

/** Resolves when running calls have ended. */
async function serveUntilStopped(
  fetch: (request: Request, env: unknown) => Response | Promise<Response>,
  { host, port }: { readonly host: string; readonly port: number },
  ending: AbortController,
  onListening: (origin: string) => void,
): Promise<void> {
  const node = await import("@hono/node-server");
  const server = node.createAdaptorServer({ fetch }) as Server;
  // The app limits bodies itself, except imports.
  server.requestTimeout = 0;
  // Whoever reads the address may stop it at once.
  const stopped = stopSignal();
  server.listen(port, host);
  await once(server, "listening");
  onListening(
    `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
  );
  await stopped;
  const { MemoryError } = await import("mnemograph/contract");
  ending.abort(new MemoryError("CLOSED", "The server ends."));
  const closed = new Promise((resolve) => server.close(resolve));
  const timer = setTimeout(() => server.closeAllConnections(), lastCallsMs);
  server.closeIdleConnections();
  await closed;
  clearTimeout(timer);
}
