import { randomUUID } from "node:crypto";
import { Embeddings } from "@langchain/core/embeddings";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../support/silent-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const megabyte = "boat ".repeat(200_000);

/** Makes whatever vectors it is told to. */
class Vectors extends Embeddings {
  readonly model = randomUUID();
  vector: number[] = [1, 0, 0];
  constructor() {
    super({});
  }
  override async embedQuery() {
    return this.vector;
  }
  override async embedDocuments(texts: string[]) {
    return texts.map(() => this.vector);
  }
}

/** A memory that has answered, and what it sends from then on. */
async function asked() {
  const { pool, statements, inTransactions } = watchedPool(db.pool);
  const warnings: string[] = [];
  const embeddings = new Vectors();
  const logger = { ...silentLogger, warn: (line: string) => void warnings.push(line) };
  const memory = db.memory({ database: pool, embeddings, logger });
  await memory.setup();
  const thread = { scope: { userId: randomUUID() }, threadId: randomUUID() };
  await memory.memories.add({
    ...thread,
    memories: { text: "The boat is red.", category: "knowledge" },
  });
  await memory.query({ ...thread, query: "boat" });
  const sent = () => statements.splice(0).length + inTransactions.splice(0).length;
  sent();
  return { memory, thread, embeddings, warnings, sent };
}

const limits = (name: string) =>
  [0, -1, 201, Number.NaN, 1.5, "5"].map((value) => ({ [name]: value }));
const noFilters = [
  "pinned",
  ["pinned"],
  { pined: true },
  { pinned: "yes" },
  { importance_min: Number.NaN },
  { importance_max: 6 },
  { agentId: "cook" },
  { category: "pets" },
  JSON.parse('{ "__proto__": "x" }'),
  { constructor: "x" },
];
const questions = [{ query: megabyte }, { query: 7 }, { query: null }];

describe("invalid search input", () => {
  it.each<[string, "query" | "explain" | "transcript" | "recall", object[]]>([
    [
      "query",
      "query",
      [...limits("topK"), ...limits("top_k"), ...questions, { topK: 3, top_k: 4 }],
    ],
    ["query", "query", noFilters.map((filters) => ({ filters }))],
    [
      "query",
      "query",
      [{ kinds: [] }, { categories: [] }, { kinds: ["facts"] }, { kinds: "fact" }],
    ],
    ["query", "query", [{ categories: ["pets"] }, { categories: "pets" }, { agent: 7 }]],
    ["query", "query", [{ threshold: Number.NaN }, { threshold: 2 }, { threshold: "0.5" }]],
    ["query", "query", [{ budgetTokens: 15 }, { budget_tokens: -1 }, { return: "lines" }]],
    ["query", "query", [{ limit: -1 }, { constructor: 1 }, { query: undefined }]],
    [
      "query with explain",
      "explain",
      [...limits("topK"), ...questions, { filters: "a" }, { kinds: [] }],
    ],
    [
      "transcript.search",
      "transcript",
      [...limits("topK"), ...questions, { threshold: Number.NaN }],
    ],
    ["recall", "recall", [{ query: 7 }, { query: ["boat"] }, { topK: 5 }, { mode: "quiet" }]],
  ])(
    "Invalid search input is rejected by %s with its name before any SQL statement",
    async (_, call, inputs) => {
      const { memory, thread, sent } = await asked();
      const calls = {
        query: (input: object) => memory.query({ scope: thread.scope, query: "boat", ...input }),
        explain: (input: object) =>
          memory.query({ scope: thread.scope, query: "boat", ...input, explain: true }),
        transcript: (input: object) =>
          memory.transcript.search({ scope: thread.scope, query: "boat", ...input }),
        recall: (input: object) => memory.recall({ ...thread, query: "boat", ...input } as never),
      };
      for (const input of inputs) {
        const error = await calls[call](input).catch((thrown: Error) => thrown);
        const [name = ""] = Object.keys(input);
        expect(error, JSON.stringify(input).slice(0, 80)).toMatchObject({ code: "INVALID_INPUT" });
        expect((error as Error).message).toMatch(RegExp(`${name}|no category "pets"`));
        expect(sent()).toBe(0);
      }
    },
  );

  it("The error of invalid search input has the given and the allowed value", async () => {
    const { memory, thread } = await asked();
    const ask = { ...thread, query: "boat" };
    await expect(memory.query({ ...ask, topK: 201 })).rejects.toThrow(/<=200, not 201\s+→ at topK/);
    await expect(memory.query({ ...ask, query: megabyte })).rejects.toThrow(
      "<=10000 characters, not 1000000",
    );
    await expect(memory.query({ ...ask, kinds: [] })).rejects.toThrow("leave it out for all");
    await expect(memory.query({ ...ask, topK: 2, top_k: 3 })).rejects.toThrow("differ");
    await expect(memory.query({ ...ask, filters: { pined: true } as never })).rejects.toThrow(
      '"pinned"',
    );
  });

  it("A recall accepts a question that is too long and reads its head", async () => {
    const { memory, thread } = await asked();
    const { memories } = await memory.recall({ ...thread, query: megabyte });
    expect(memories.relevant).toHaveLength(1);
  });

  it("A question whose vector is empty or has NaN is searched by words", async () => {
    const { memory, thread, embeddings, warnings } = await asked();
    const ask = { ...thread, query: "boat" };
    warnings.splice(0);
    for (const vector of [[Number.NaN, 0, 0], [], [1, 0, Number.POSITIVE_INFINITY]]) {
      embeddings.vector = vector;
      expect(await memory.query(ask)).toHaveLength(1);
      expect((await memory.recall(ask)).memories.relevant).toHaveLength(1);
      expect(warnings.splice(0)).toEqual(
        Array(2).fill(expect.stringContaining("empty vector or one with NaN")),
      );
    }
  });
});
