import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { options, root } from "../support/compiler.js";
import { docExamples } from "../support/doc-examples.js";

/** Declarations that the examples use. */
const prelude = `
import { MemorySaver, StateGraph, MessagesAnnotation } from "@langchain/langgraph";
import { serve } from "@hono/node-server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { hc } from "hono/client";
import { bearerTokens, createMemoryApp, jwtScopes, type MemoryApp } from "../../packages/server/src/http/index.js";
import * as mnemograph from "../../src/index.js";
import { localEmbeddings } from "../../src/local-embeddings/index.js";
import { createMcpServer } from "../../packages/server/src/mcp/index.js";
import { generateText, wrapLanguageModel } from "ai";
import { memoryModelMiddleware } from "../../packages/ai-sdk/src/index.js";
const { createMemory, createMemorySupervisor, fromRun, memoryManageTool, memoryMiddleware, endConversationTool, memoryQueryTool, transcriptSearchTool, withMemory } = mnemograph;
declare const token: string;
declare const gpt: import("ai/test").MockLanguageModelV3;
type Client = ReturnType<typeof hc<MemoryApp>>;
declare const model: Parameters<typeof mnemograph.createMemorySupervisor>[0]["model"];
declare const memory: mnemograph.Memory;
declare const createAgent: (settings: object) => unknown;
declare const agent: import("../../src/langgraph/wrap/with-memory.js").CreatedAgent<typeof MessagesAnnotation.State>;
void [gpt, localEmbeddings, generateText, wrapLanguageModel, memoryModelMiddleware, serve, serveStdio, hc, bearerTokens, createMemoryApp, jwtScopes, createMcpServer, token, null as Client | null, MemorySaver, StateGraph, MessagesAnnotation, createMemory, createAgent, createMemorySupervisor, fromRun, memoryManageTool, memoryMiddleware, endConversationTool, memoryQueryTool, transcriptSearchTool, withMemory, memory, agent, model];
`;

describe("examples of docstrings", () => {
  it("The main calls have examples in their docstrings", () => {
    expect(docExamples.map(({ file }) => file)).toEqual(
      expect.arrayContaining(["create-memory.ts", "memory.ts"]),
    );
    expect(docExamples.length).toBeGreaterThanOrEqual(8);
  });

  it("The examples of docstrings compile", () => {
    // Each in its own block, so that two can use the same names.
    const body = docExamples
      .map(({ file, code }) => `// ${file}\nasync () => {\n${code}\n};`)
      .join("\n");
    const path = join(root, "test/memory/doc-examples.generated.ts");
    const host = ts.createCompilerHost({ ...options, noUnusedLocals: false });
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (name, target, ...rest) =>
      name === path
        ? ts.createSourceFile(path, prelude + body, target, true)
        : read(name, target, ...rest);
    host.fileExists = (name) => name === path || ts.sys.fileExists(name);
    const program = ts.createProgram([path], { ...options, noUnusedLocals: false }, host);
    const problems = program.getSemanticDiagnostics(program.getSourceFile(path));
    expect(
      problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
    ).toEqual([]);
  });
});
