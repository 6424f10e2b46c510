import { describe, expect, it } from "vitest";
import * as http from "../../src/http/index.js";
import * as main from "../../src/index.js";
import * as mcp from "../../src/mcp/index.js";
import * as testing from "../../src/testing/index.js";

// A name that goes away breaks somebody; a name that comes is to be kept for good. Either is a decision.
describe("the names the package exports", () => {
  it("from its entry point", () => {
    expect(Object.keys(main).sort()).toEqual([
      "MemoryError",
      "consentNode",
      "consentTool",
      "createMemory",
      "createMemorySupervisor",
      "endConversationTool",
      "fieldsFirst",
      "memoryAnnotation",
      "memoryFields",
      "memoryManageTool",
      "memoryMiddleware",
      "memoryQueryTool",
      "memoryStateFields",
      "modelView",
      "procedureTool",
      "recallNode",
      "rememberNode",
      "shownBy",
      "transcriptSearchTool",
      "withMemory",
    ]);
  });

  it("from mnemograph/http", () => {
    expect(Object.keys(http).sort()).toEqual(["bearerTokens", "createMemoryApp", "jwtScopes"]);
  });

  it("from mnemograph/mcp", () => {
    expect(Object.keys(mcp).sort()).toEqual(["createMcpServer", "mcpHandler"]);
  });

  it("from mnemograph/testing", () => {
    expect(Object.keys(testing).sort()).toEqual([
      "HashingEmbeddings",
      "OfflineChatModel",
      "ScriptedChatModel",
      "createGate",
    ]);
  });
});
