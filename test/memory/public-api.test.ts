import { expect, it } from "vitest";
import * as aiSDK from "../../packages/ai-sdk/src/index.js";
import * as http from "../../packages/server/src/http/index.js";
import * as mcp from "../../packages/server/src/mcp/index.js";
import * as contract from "../../src/contract.js";
import * as local from "../../src/local-embeddings/index.js";
import * as testing from "../../src/testing/index.js";

// A removed name breaks users, and a new one must stay: both are decisions. The names of the entry
// point are in strict-input.test.ts.
it.each([
  ["@mnemograph/server/http", http, ["bearerTokens", "createMemoryApp", "jwtScopes"]],
  ["@mnemograph/server/mcp", mcp, ["createMcpServer", "mcpHandler"]],
  ["@mnemograph/ai-sdk", aiSDK, ["memoryModelMiddleware", "memoryQueryToolFor"]],
  ["mnemograph/local-embeddings", local, ["localEmbeddings"]],
  [
    "mnemograph/testing",
    testing,
    [
      ...["HashingEmbeddings", "MemoryExpectationError", "OfflineChatModel", "ScriptedChatModel"],
      ...["believes", "createGate", "expectMemory", "readPrompt"],
    ],
  ],
])("%s exports its public names and no others", (_, entry, names) => {
  expect(Object.keys(entry).sort()).toEqual(names);
});

it("mnemograph/contract has what the other packages need of the library, and no more", () => {
  expect(Object.keys(contract).sort().join(" ")).toMatchInlineSnapshot(
    `"MemoryError abortSignal acrossTenants agentFields answerForms askOf attachmentOf blockParts callback categoryOfKind changeFields commandAt consentStatuses continueOnError countLacking createMemory defaultDataDir defaultLogger defined draftFields erasureKinds erasureReceipt errorKind eventFields eventOps eventParts eventSteps explainIssue findIsolation handedForm hasCheckpoints identityKeys inTime installedVersion isApproved isIdle isWaiting itemColumns jobStates keepsVectors lacksPgvector localEmbeddings memoryBlock memoryColumns memoryFilterSchema memoryKinds memorySorts memoryStates messageOf messageText migrate migrateCommandLine migrationStatus minTrustField noCost nonBlank openDatabase parseAppScope parseInput parseJson parseScope plainMessages propertyOf readableCategories receiptProblems reportSearch requireCategory requiredScope requiredThread resolveConfig revisionNumber runStatuses scopeField scoreSignals setUpCheckpointer setsWords shippedSchema shownBy shownLine shownParts splitLines spokenText statusOf storableText suggestion threadStates timeZoneField toMemoryError turnMessages turnOptionsSchema vectorRows withAdvice withDeadline withMessages withReferences workKinds"`,
  );
});
