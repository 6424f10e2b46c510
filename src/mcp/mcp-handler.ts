import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { z } from "zod";
import type { Memory } from "../memory.js";
import type { Scope } from "../scope/scope.js";
import { parseInput, storableText } from "../text/parse-input.js";
import { createMcpServer } from "./memory-server.js";

const optionsSchema = z.strictObject({
  agent: storableText.optional(),
  origins: z.array(z.string()).readonly().optional(),
});

/** How a request of the Model Context Protocol is answered, whose memory was found out before. */
export type McpHandler = (request: Request, scope: Scope, actor: string) => Promise<Response>;

/**
 * Answers the Model Context Protocol over streamable HTTP, for `createMemoryApp(memory, { mcp: mcpHandler(memory) })`. It
 * keeps no sessions: each request is answered for whom it was authenticated, by whichever process it comes to.
 *
 * @param options.agent as for `createMcpServer`.
 * @param options.origins of pages that may ask, such as "https://chat.example.com"; a page of any other site is refused with
 * status 403. Clients that are no pages send no origin. @default only the host that is asked itself
 * @throws MemoryError `INVALID_INPUT` for options that there are not
 */
export function mcpHandler(
  memory: Memory,
  options: { readonly agent?: string; readonly origins?: readonly string[] } = {},
): McpHandler {
  const { origins = [], agent } = parseInput(optionsSchema, options, "options of mcpHandler");
  const shown = agent === undefined ? {} : { agent };
  return async (request, scope, actor) => {
    if (isOfOtherSite(request, origins)) return refusal(403, "Pages of this origin may not ask here.");
    // There is no session to listen to or to end.
    if (request.method !== "POST")
      return refusal(405, "Method not allowed: this server keeps no sessions.", { allow: "POST" });
    const server = createMcpServer(memory, { ...shown, scope, actor });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request);
    } finally {
      await server.close();
    }
  };
}

/** Whether a browser sends it for a page of another site, which the protocol has servers refuse: names can be turned. */
function isOfOtherSite(request: Request, origins: readonly string[]): boolean {
  const origin = request.headers.get("origin");
  if (origin === null || origins.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== new URL(request.url).host;
}

function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status, headers });
}
