import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { expect, it } from "vitest";
import {
  consentTool,
  endConversationTool,
  memoryManageTool,
  memoryQueryTool,
  procedureTool,
  transcriptSearchTool,
} from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

it.each([
  ["memory_query", memoryQueryTool, ["query"]],
  ["memory_manage", memoryManageTool, ["action"]],
  ["memory_consent", consentTool, ["proposal", "decision", "quote"]],
  ["memory_save_procedure", procedureTool, ["title"]],
  ["transcript_search", transcriptSearchTool, ["query"]],
  ["end_conversation", endConversationTool, undefined],
] as const)(
  "%s is bound to models with its required arguments, and only under names that providers accept",
  (name, make, required) => {
    const memory = db.memory();
    const { function: wire } = convertToOpenAITool(make(memory));
    expect(wire.name).toBe(name);
    expect((wire.parameters as { required?: string[] }).required).toEqual(required);
    expect(make(memory, { name: "hang_up" }).name).toBe("hang_up");
    for (const wrong of ["hang up", "memory.hang"])
      expect(() => make(memory, { name: wrong })).toThrow(/cannot be a tool's name/);
  },
);
