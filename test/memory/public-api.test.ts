import { expect, it } from "vitest";
import * as http from "../../src/http/index.js";
import * as local from "../../src/local-embeddings/index.js";
import * as mcp from "../../src/mcp/index.js";
import * as testing from "../../src/testing/index.js";

// A removed name breaks users, and a new one must stay: both are decisions. The names of the entry
// point are in strict-input.test.ts.
it.each([
  ["http", http, ["bearerTokens", "createMemoryApp", "jwtScopes"]],
  ["local-embeddings", local, ["localEmbeddings"]],
  ["mcp", mcp, ["createMcpServer", "mcpHandler"]],
  [
    "testing",
    testing,
    ["HashingEmbeddings", "OfflineChatModel", "ScriptedChatModel", "createGate"],
  ],
])("mnemograph/%s exports its public names and no others", (_, entry, names) => {
  expect(Object.keys(entry).sort()).toEqual(names);
});
