import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { type ReadableSpan, type SpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { candidate, facts, taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";
import { newAddress } from "../../support/thread-facts.js";

const db = useTestDatabase();
const finished: ReadableSpan[] = [];
const collector: SpanProcessor = {
  onStart() {},
  onEnd: (span) => void finished.push(span),
  async forceFlush() {},
  async shutdown() {},
};
const secret = "zanzibar";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [collector] }));
});
beforeEach(() => void finished.splice(0));
afterAll(() => {
  trace.disable();
  context.disable();
});

const attributesOf = (name: string) => finished.find((span) => span.name === name)?.attributes;

async function aConversation(spans = {}) {
  const model = taskModel({
    fact_extraction: () => facts(candidate(`The user went to ${secret}.`, secret)),
    conversation_summary: () => new Error(`The provider quotes: ${secret}`),
  });
  const memory = db.memory({
    model,
    config: {
      memories: { extract: true, episodes: false },
      summaries: { afterSeq: 1, maxAttempts: 1 },
      spans,
    },
  });
  const { threadId, scope } = newAddress();
  const thread = { threadId, scope: { ...scope, tenantId: "acme", appId: "desk" } };
  const messages = [
    new HumanMessage(`I went to ${secret}.`),
    new AIMessage(`Tell me more about ${secret}.`),
  ];
  await memory.remember({ ...thread, messages });
  await memory.recall({ ...thread, query: `What about ${secret}?` });
  await memory.query({ ...thread, query: secret });
  await memory
    .query({ ...thread, query: secret, agent: "x", categories: [secret] })
    .catch(() => {});
  return { memory, thread };
}

describe("spans", () => {
  it("Spans have stable names and attributes", async () => {
    await aConversation();
    const names = finished.map(({ name }) => name.replace("mnemograph.", ""));
    expect(names.toSorted()).toEqual([
      "facts",
      "query",
      "query",
      "recall",
      "remember",
      "summaries",
    ]);
    expect(attributesOf("mnemograph.recall")).toEqual({
      "mnemograph.op": "search",
      "mnemograph.node": "context",
      "mnemograph.step": "recall",
      "mnemograph.status": "ok",
      "mnemograph.round_trips": 1,
      "mnemograph.hits": 1,
      "mnemograph.similarity": expect.any(Number),
      "mnemograph.profile": 0,
      "mnemograph.notes": 0,
      "mnemograph.rest": 0,
      "mnemograph.omitted": 0,
      "mnemograph.omitted_messages": 0,
      "mnemograph.recent_messages": 0,
      "mnemograph.changes": 1,
      "mnemograph.gap_messages": 2,
      "mnemograph.summarized": false,
    });
    expect(attributesOf("mnemograph.remember")).toMatchObject({
      "mnemograph.status": "ok",
      "mnemograph.recorded": 2,
      "mnemograph.round_trips": 2,
    });
    expect(attributesOf("mnemograph.facts")).toMatchObject({ "mnemograph.outcome": "completed" });
    expect(attributesOf("mnemograph.summaries")).toMatchObject({
      "mnemograph.status": "error",
      "mnemograph.outcome": "failed",
    });
  });

  it("Spans carry tokens, and ids of threads and scopes only with `spans.ids`", async () => {
    const ids = ["thread_id", "tenant_id", "app_id", "agent"].map((name) => `mnemograph.${name}`);
    const idsOf = (name: string) => ids.map((id) => attributesOf(`mnemograph.${name}`)?.[id]);
    const names = ["recall", "remember", "query", "facts", "summaries"];
    await aConversation();
    for (const name of names) expect(idsOf(name)).toEqual(ids.map(() => undefined));
    finished.splice(0);
    const { memory, thread } = await aConversation({ ids: true });
    for (const name of names)
      expect(idsOf(name)).toEqual([thread.threadId, "acme", "desk", undefined]);
    await memory.query({ ...thread, query: "", agent: "guide" });
    expect(finished.at(-1)?.attributes).toMatchObject({
      "mnemograph.agent": "guide",
    });
    const count = expect.any(Number);
    const tokens = { "mnemograph.input_tokens": count, "mnemograph.output_tokens": count };
    expect(attributesOf("mnemograph.facts")).toMatchObject(tokens);
    expect(attributesOf("mnemograph.recall")).not.toHaveProperty(["mnemograph.input_tokens"]);
  });

  it("The span of a failure has its code, but not its message", async () => {
    await aConversation();
    const failed = finished.find(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed).toMatchObject({
      name: "mnemograph.query",
      status: { message: "INVALID_INPUT" },
      attributes: { "mnemograph.status": "error", "mnemograph.error": "INVALID_INPUT" },
      events: [],
    });
  });

  it("Spans are children of the span around them", async () => {
    const memory = db.memory();
    const outer = await trace.getTracer("test").startActiveSpan("outer", async (span) => {
      await memory.recall(newAddress());
      span.end();
      return span.spanContext().spanId;
    });
    const [inner] = finished;
    expect(inner?.parentSpanContext?.spanId).toBe(outer);
  });

  it("Spans and events hold no content of messages and memories", async () => {
    const { memory, thread } = await aConversation();
    const spans = finished.map(({ name, attributes, events, status }) => ({
      name,
      attributes,
      events,
      status,
    }));
    expect(spans.length).toBeGreaterThan(5);
    expect(JSON.stringify(spans)).not.toContain(secret);
    const { rows } = await db.pool.query(
      `select row_to_json(e) as event from "${db.schema}".event e`,
    );
    expect(rows.length).toBeGreaterThan(5);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect((await memory.events.list(thread)).length).toBeGreaterThan(0);
  });
});
