/**
 * `@mnemograph/server/mcp`: memory for clients of the Model Context Protocol. Needs the package
 * `@modelcontextprotocol/server`.
 */
export { type McpHandler, mcpHandler } from "./mcp-handler.js";
export { createMcpServer, type McpServerOptions } from "./memory-server.js";
