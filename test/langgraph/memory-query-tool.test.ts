import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Memory, memoryManageTool, memoryQueryTool } from "../../src/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const seedYaml = `
categories:
  system:
    - name: profile
      context: all
    - name: event
      context: rag
      rag_length: 30
    - name: activity
      context: rag
      rag_length: 50
  custom: []
allowlists:
  supervisor: [profile, goals, preferences, event, activity, relationships, tasks]
  planner:    [goals, tasks, projects]
  stylist:    [preferences, tone, style]
  researcher: [knowledge, interests, history]
  executor:   [tasks, recent_activity, constraints]
`;

const db = useTestDatabase();
const folder = mkdtempSync(join(tmpdir(), "mnemograph-policy-"));
const config = join(folder, "memory.yaml");
let memory: Memory;
const scope = { tenantId: "acme", userId: "ana" };
const run = { configurable: { thread_id: "t", user_id: "ana", tenant_id: "acme" } };

beforeAll(async () => {
  writeFileSync(config, seedYaml);
  memory = db.memory({ config });
  await memory.memories.add({
    scope,
    memories: [
      {
        category: "tasks",
        text: "The deployment plan for Phoenix is due on Friday.",
        agentId: "planner",
      },
      { category: "preferences", text: "Ana prefers deployment plans as bullet points." },
      { category: "tasks", text: "The deployment server was rebooted by Ana.", importance: 1 },
    ],
  });
  await memory.memories.add({
    scope: { tenantId: "other", userId: "ana" },
    memories: { category: "tasks", text: "The deployment plan of the other tenant is secret." },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ask = async (agent: string, input: Record<string, unknown>): Promise<string> =>
  memoryQueryTool(memory, { agent }).invoke({ query: "deployment plan", ...input }, run);

it("An agent without an allowlist is logged once, with the nearest name", async () => {
  const logger = recordingLogger();
  const allowlists = { planner: ["tasks", "constraints"], cook: ["constraints"] };
  const memory = db.memory({ config: { allowlists }, logger });
  const warnings = () => logger.lines.filter((line) => line.startsWith("warn"));
  for (const agent of ["planner", "cook", "supervisor", "executor"]) {
    memoryQueryTool(memory, { agent });
    await memory.recall({ scope, threadId: "names", agent });
  }
  expect(warnings()).toEqual([]);
  for (let turn = 0; turn < 2; turn++)
    await memory.recall({ scope, threadId: "names", agent: "planer" });
  expect(await memory.query({ scope, query: "plan", agent: "planer" })).toEqual([]);
  memoryManageTool(memory, { agent: "clerk" });
  // "executor" has no list either.
  memoryManageTool(memory, { agent: "executer" });
  expect(warnings()).toEqual([
    expect.stringMatching(/"planer" has no allowlist: did you mean "planner"\?/),
    expect.stringMatching(/"clerk" has no allowlist\./),
    expect.stringMatching(/"executer" has no allowlist\./),
  ]);
  await db.memory({ logger }).recall({ scope, threadId: "names", agent: "planer" });
  expect(warnings()).toHaveLength(3);
});

describe("memoryQueryTool", () => {
  it("A query answers within the agent's allowlist, with id, category, similarity and reason", async () => {
    const hits = JSON.parse(await ask("planner", {}));
    expect(hits[0]).toMatchObject({
      id: expect.any(String),
      category: "tasks",
      text: "[tasks] The deployment plan for Phoenix is due on Friday.",
      similarity: expect.any(Number),
      reason: expect.stringContaining("same words"),
    });
    expect(hits.map((hit: { category: string }) => hit.category)).not.toContain("preferences");
  });

  it("A query for a category outside the allowlist is refused with a message, and an event records it", async () => {
    expect(await ask("planner", { categories: ["preferences"] })).toBe(
      'Refused: Agent "planner" may not read preferences. It may read: goals, tasks, projects, ' +
        "instructions, app_notes, procedural, relationship_dynamic.",
    );
    const { rows } = await db.pool.query(
      `select status, detail from "${db.schema}".event where step = 'tool' and status = 'error'`,
    );
    expect(rows).toContainEqual({ status: "error", detail: "CATEGORY_DENIED" });
  });

  it("An agent without an allowlist reads nothing when others have one", async () => {
    const refused = await ask("stranger", { categories: ["tasks"] });
    expect(refused).toContain("It may read: instructions, app_notes, procedural");
    expect(await ask("stranger", {})).toContain("No memory fits");
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      "a category in a filter that is not the agent's",
      { filters: { category: "preferences" } },
      /Agent/,
    ],
    ["a filter by user", { filters: { user_id: "ben" } }, /another user/],
    ["an unknown filter", { filters: { topic: "x" } }, /"topic" \(known: .*role/],
    ["an unknown category", { categories: ["taskz"] }, /There is no category "taskz"/],
    ["text that is no date", { filters: { updated_after: "next year" } }, /Invalid filters/],
    ["an unknown argument", { topk: 1 }, /"topk" \(did you mean/],
    [
      "another agent",
      { agent: "stylist" },
      /`agent` is bound by the tool to "planner" and cannot be chosen here. Leave it out.$/,
    ],
    [
      "another scope",
      { scope: { tenantId: "other", userId: "ana" } },
      /`scope` is bound by the run/,
    ],
  ])("memoryQueryTool refuses %s instead of ignoring it", async (_, input, reason) => {
    const answer = await ask("planner", input);
    expect(answer).toMatch(/^Refused: /);
    expect(answer).toMatch(reason);
  });

  it("memoryQueryTool accepts every field of a request, and null for unset ones", async () => {
    const request = {
      agent: "planner",
      query: "deployment plan context",
      categories: ["tasks", "projects"],
      filters: {
        user_id: "ana",
        agent_id: "planner",
        run_id: null,
        actor_id: null,
        role: null,
        pinned: false,
        importance_min: 1,
        importance_max: 5,
        updated_after: "2025-07-01",
        updated_before: null,
      },
      top_k: 3,
      return: "bullets",
      budget_tokens: 512,
    };
    expect(JSON.parse(await ask("planner", request))).toMatchObject([
      { text: expect.stringContaining("Phoenix") },
    ]);
    const unset = { agent: null, categories: null, top_k: null, return: null, threshold: null };
    expect(JSON.parse(await ask("planner", unset)).length).toBeGreaterThan(0);
  });

  it("memoryQueryTool takes the scope from the run, never from the model, and never another tenant's", async () => {
    expect(await ask("planner", { top_k: 20 })).not.toContain("secret");
    await expect(memoryQueryTool(memory).invoke({ query: "plan" }, {})).rejects.toThrow(
      /does not say whose memory/,
    );
  });

  it("memoryQueryTool has a JSON schema that is closed, filters included", () => {
    const { parameters } = convertToOpenAITool(memoryQueryTool(memory)).function;
    expect(parameters).toMatchObject({ additionalProperties: false });
    expect(parameters).toHaveProperty("properties.filters.properties.updated_after");
    expect(parameters).toHaveProperty("properties.filters.additionalProperties", false);
  });
});

describe("token budgets", () => {
  const wide = { tenantId: "acme", userId: "wide" };
  beforeAll(async () => {
    const drafts = ["😀", "a", "語", "word ", '"\\\n'].map((part, index) => ({
      text: `Robots ${part.repeat(130)}`.slice(0, 270),
      category: "tasks",
      key: `robot ${index}`,
      value: part.repeat(400),
      tags: Array.from({ length: 20 }, (_, tag) => `tag ${tag}`),
      source: { threadId: "somewhere", seqs: [1], quote: part.repeat(3_000) },
    }));
    await memory.memories.add({ scope: wide, memories: drafts });
  });

  it.each(
    [16, 20, 40, 64, 100, 200, 512, 1_000, 3_000, 8_000].flatMap((budget) => [
      [budget, "bullets"] as const,
      [budget, "full"] as const,
    ]),
  )(
    "A token budget of %i holds for %s, and the first result is cut to fit",
    async (budget, how) => {
      const tool = memoryQueryTool(memory, { scope: wide });
      const answer: string = await tool.invoke(
        { query: "robots", top_k: 5, return: how, budget_tokens: budget },
        run,
      );
      expect(estimateTokens(answer)).toBeLessThanOrEqual(budget);
      expect(answer).not.toMatch(/\p{Surrogate}/u);
      const [first]: { text: string }[] = JSON.parse(answer);
      expect(first?.text).not.toBe("");
      if (budget < 64) expect(first?.text).toMatch(/…$/);
      if (budget >= 100) expect(first).toMatchObject({ id: expect.any(String), category: "tasks" });
      if (budget >= 1_000 && how === "full") expect(first).toHaveProperty("metadata.kind");
    },
  );
});
