import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Memory, Scope } from "mnemograph";
import { defined, parseInput, storableText } from "mnemograph/contract";
import { z } from "zod";
import { createMcpServer } from "./memory-server.js";

const handlerOptionsSchema = z.strictObject({
  agent: storableText.optional(),
  origins: z.array(z.string()).readonly().optional(),
});

/** Answers a request of the Model Context Protocol for an authenticated scope. */
export type McpHandler = (request: Request, scope: Scope, actor: string) => Promise<Response>;

/**
 * Answers the Model Context Protocol over streamable HTTP: `createMemoryApp(memory, { mcp:
 * mcpHandler(memory) })`. Keeps no sessions, so any process can answer.
 * @param options.agent as for `createMcpServer`.
 * @param options.origins pages that may ask, such as "https://chat.example.com"; others get 403.
 * @default its own host
 * @throws MemoryError `INVALID_INPUT` for unknown options
 */
export function mcpHandler(
  memory: Memory,
  options: { readonly agent?: string; readonly origins?: readonly string[] } = {},
): McpHandler {
  const { origins = [], agent } = parseInput(
    handlerOptionsSchema,
    options,
    "options of mcpHandler",
  );
  return async (request, scope, actor) => {
    if (isFromOtherSite(request, origins))
      return refusedRequest(403, "Pages of this origin may not ask here.");
    if (request.method !== "POST")
      return refusedRequest(405, "Method not allowed: this server keeps no sessions.", {
        allow: "POST",
      });
    const newServer = () => createMcpServer(memory, { scope, actor, ...defined({ agent }) });
    // Nothing is announced, so nobody can listen for it.
    const modern = createMcpHandler(newServer, { legacy: "reject", maxSubscriptions: 0 });
    if (!(await isLegacyRequest(request))) return modern.fetch(request);
    // Not the package's own: it answers by a stream, of which the time limit of an app holds for
    // the first byte only.
    const server = newServer();
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request);
    } finally {
      await server.close();
    }
  };
}

/**
 * Browsers send an origin. The protocol requires servers to refuse other sites, against DNS
 * rebinding.
 */
function isFromOtherSite(request: Request, origins: readonly string[]): boolean {
  const origin = request.headers.get("origin");
  if (origin === null || origins.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== new URL(request.url).host;
}

function refusedRequest(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json(
    { jsonrpc: "2.0", error: { code: -32_000, message }, id: null },
    { status, headers },
  );
}
