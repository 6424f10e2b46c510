import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Memory } from "../memory.js";
import type { Scope } from "../scope/scope.js";
import { createMcpServer } from "./memory-server.js";

/** How a request of the Model Context Protocol is answered, whose memory was found out before. */
export type McpHandler = (request: Request, scope: Scope, actor: string) => Promise<Response>;

/**
 * Answers the Model Context Protocol over streamable HTTP, for `createMemoryApp(memory, { mcp: mcpHandler(memory) })`. It
 * keeps no sessions: each request is answered for whom it was authenticated, by whichever process it comes to.
 *
 * @param options.agent as for `createMcpServer`.
 */
export function mcpHandler(memory: Memory, options: { readonly agent?: string } = {}): McpHandler {
  return async (request, scope, actor) => {
    // There is no session to listen to or to end.
    if (request.method !== "POST") {
      const error = { code: -32_000, message: "Method not allowed: this server keeps no sessions." };
      return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 405, headers: { allow: "POST" } });
    }
    const server = createMcpServer(memory, { ...options, scope, actor });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request);
    } finally {
      await server.close();
    }
  };
}
