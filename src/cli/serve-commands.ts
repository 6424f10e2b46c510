import { once } from "node:events";
import { isIP } from "node:net";
import { MemoryError } from "../errors.js";
import type { MemoryAppOptions } from "../http/app-options.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withMemory, withModel, withScope } from "./flags.js";
import { peers, serveUntilStopped } from "./listen.js";
import { stopSignal, useMemory, useScope } from "./use-memory.js";

interface ServeFlags extends MemoryFlags {
  readonly host: string;
  readonly port: number;
  readonly auth?: string;
  readonly mcp?: true;
}

/** `mnemograph serve`: the HTTP API, until a signal ends it. */
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

/** @throws MemoryError `INVALID_INPUT` for an address that others reach without authentication; `PEER_MISSING` */
async function serve(flags: ServeFlags): Promise<void> {
  const { host, port } = flags;
  const authenticate = await authenticateOf(flags);
  if (authenticate === undefined && !isLoopback(host)) {
    throw new MemoryError(
      "INVALID_INPUT",
      `Others reach ${host}: say who may ask, by --auth or MNEMOGRAPH_TOKEN, or listen at 127.0.0.1.`,
    );
  }
  const { createMemoryApp } = await peers("hono", () => import("../http/memory-app.js"));
  const mcp = flags.mcp && (await peers("@modelcontextprotocol/sdk", () => import("../mcp/mcp-handler.js")));
  await useMemory(flags, async (memory) => {
    const ending = new AbortController();
    const app = createMemoryApp(memory, {
      ...{ signal: ending.signal, ...(authenticate && { authenticate }) },
      ...(mcp && { mcp: mcp.mcpHandler(memory) }),
    });
    await serveUntilStopped({ fetch: app.fetch, host, port, ending });
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

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** `mnemograph mcp`: one scope's memory for a client of the Model Context Protocol, over standard input and output. */
export const mcpCommand: CliCommand = {
  name: "mcp",
  description: "answer the Model Context Protocol over standard input and output, for one user or app",
  examples: [["mcp --user ana", "a client runs this, and its model has ana's memory"]],
  flags: (command) =>
    withMemory(withScope(command)).option("--agent <name>", "only the categories that this agent may read"),
  run: mcp,
};

async function mcp(flags: MemoryFlags & { readonly agent?: string }): Promise<void> {
  const sdk = "@modelcontextprotocol/sdk";
  const { createMcpServer } = await peers(sdk, () => import("../mcp/memory-server.js"));
  const { StdioServerTransport } = await peers(
    sdk,
    () => import("@modelcontextprotocol/sdk/server/stdio.js"),
  );
  const { agent } = flags;
  await useScope(flags, async (memory, scope) => {
    const server = createMcpServer(memory, { scope, ...(agent !== undefined && { agent }) });
    await server.connect(new StdioServerTransport());
    await Promise.race([once(process.stdin, "end"), once(process.stdin, "close"), stopSignal()]);
    await server.close();
  });
}
