import { expect, test } from "vitest";
import * as testing from "../../src/testing/index.js";

test("exports the stand-ins and the gate, nothing else", () => {
  expect(Object.keys(testing).sort()).toEqual([
    "HashingEmbeddings",
    "OfflineChatModel",
    "ScriptedChatModel",
    "createGate",
  ]);
});
