import { once } from "node:events";
import { isIP } from "node:net";
import { userInfo } from "node:os";
import { MemoryError } from "../errors.js";
import type { MemoryAppOptions } from "../http/app-options.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withMemory, withModel, withScope } from "./flags.js";
import { peers, serveUntilStopped } from "./listen.js";
import { stopSignal, useMemory, useScope } from "./use-memory.js";

const mcpPackage = "@modelcontextprotocol/sdk";
const loadApp = () => peers("hono", () => import("../http/memory-app.js"));

interface ServeFlags extends MemoryFlags {
  readonly host: string;
  readonly port: number;
  readonly auth?: string;
  readonly mcp?: true;
}

export const serveCommand: CliCommand = {
  name: "serve",
  description:
    "answer the HTTP API, described at /openapi.json; without authentication for this machine only",
  examples: [
    ["serve", "for programs of this machine"],
    ["serve --host 0.0.0.0 --auth ./auth.js", "for callers that a module authenticates"],
  ],
  flags: (command) =>
    withModel(withMemory(command))
      .option("--host <address>", "where to listen", "127.0.0.1")
      .option("--port <number>", "the port", wholeNumber(65_535), 8_787)
      .option(
        "--auth <module>",
        "a file or package that exports a function `authenticate` (default: operators by MNEMOGRAPH_TOKEN, if it is set)",
      )
      .option("--mcp", "answer the Model Context Protocol at /mcp as well"),
  run: serve,
};

/** @throws MemoryError `INVALID_INPUT` for a public address without authentication; `PEER_MISSING` */
async function serve(flags: ServeFlags): Promise<void> {
  const { host, port } = flags;
  const authenticate = await authenticateOf(flags);
  const isLoopback = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  if (authenticate === undefined && !isLoopback) {
    throw new MemoryError(
      "INVALID_INPUT",
      `Others reach ${host}: say who may ask, by --auth or MNEMOGRAPH_TOKEN, or listen at 127.0.0.1.`,
    );
  }
  const { createMemoryApp } = await loadApp();
  const mcp = flags.mcp && (await peers(mcpPackage, () => import("../mcp/mcp-handler.js")));
  await useMemory(flags, async (memory) => {
    const ending = new AbortController();
    const { fetch } = createMemoryApp(memory, {
      ...{ signal: ending.signal, ...(authenticate && { authenticate }) },
      ...(mcp && { mcp: mcp.mcpHandler(memory) }),
    });
    const listening = (origin: string) => void process.stderr.write(`Listening at ${origin}\n`);
    await serveUntilStopped({ fetch, host, port, ending, listening });
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
  description: "answer the Model Context Protocol over standard input and output, for one user or app",
  examples: [["mcp --user ana", "a client runs this, and its model has ana's memory"]],
  flags: (command) =>
    withMemory(withScope(command)).option("--agent <name>", "only the categories that this agent may read"),
  async run(flags: MemoryFlags & { readonly agent?: string }) {
    const { createMcpServer } = await peers(mcpPackage, () => import("../mcp/memory-server.js"));
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    const { agent } = flags;
    await useScope(flags, async (memory, scope) => {
      const server = createMcpServer(memory, { scope, ...(agent !== undefined && { agent }) });
      await server.connect(new StdioServerTransport());
      await Promise.race([once(process.stdin, "end"), once(process.stdin, "close"), stopSignal()]);
      await server.close();
    });
  },
};

interface InspectFlags extends MemoryFlags {
  readonly port?: number;
  readonly operator?: string;
}

export const inspectCommand: CliCommand = {
  name: "inspect",
  description: "show what is remembered, and why, in a browser on this machine; change it there",
  examples: [
    ["inspect", "prints an address that is good for one visit"],
    ["inspect --user ana --operator joe", "begins with ana; what joe changes stands under that name"],
  ],
  flags: (command) =>
    withMemory(withScope(command, "begin with this user"))
      .option("--port <number>", "the port (default: any that is free)", wholeNumber(65_535))
      .option(
        "--operator <name>",
        "who looks and changes, for the audit trail (default: the name of your login)",
      ),
  run: inspect,
};

async function inspect(flags: InspectFlags): Promise<void> {
  const { tenant, user, app, port = 0, operator = userInfo().username } = flags;
  const { createMemoryApp } = await loadApp();
  const { isLocal } = await import("../http/authenticate.js");
  const { createInspectorSession } = await import("../http/inspector-session.js");
  await useMemory(flags, async (memory) => {
    const ending = new AbortController();
    const { token, authenticate, before } = createInspectorSession(operator);
    const api = createMemoryApp(memory, { signal: ending.signal, authenticate, inspector: true });
    const serve = before((request, env) => api.fetch(request, env as object));
    const refused = () => new Response("This is for a browser on this machine.\n", { status: 403 });
    // Refuses rebound names, other machines and proxies.
    const fetch = (request: Request, env: unknown) =>
      isLocal(request, env) ? serve(request, env) : refused();
    const listening = (origin: string) => {
      const named = Object.entries({ token, tenant, user, app }).filter(([, id]) => id !== undefined);
      process.stderr.write(
        "Open this in a browser on this machine. It is good for one visit; Ctrl+C ends it.\n",
      );
      process.stdout.write(`${origin}/inspector/#${new URLSearchParams(named as [string, string][])}\n`);
    };
    await serveUntilStopped({ fetch, host: "127.0.0.1", port, ending, listening });
  });
}
