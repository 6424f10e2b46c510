import { randomUUID } from "node:crypto";
import { Embeddings } from "@langchain/core/embeddings";
import { describe, expect, it } from "vitest";
import { type MemoryDraft, memoryQueryTool } from "../../src/index.js";
import { useSchemaNames } from "../support/fresh-schema.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const schemaName = useSchemaNames(db);

const dimensions = 256;

/**
 * A model that finds all texts `base` alike, but for those of one topic: texts with the same word
 * in capitals, which are `related` alike. It counts what it is asked.
 */
class Model extends Embeddings {
  readonly model = randomUUID();
  readonly asked: string[] = [];
  readonly stated: string[] = [];
  private readonly axes = new Map<string, number>();

  private readonly base: number;
  private readonly related: number;
  private readonly other: (() => number[]) | undefined;

  /** @param other what is given for texts without a topic */
  constructor(base: number, related = base + (1 - base) / 2, other?: () => number[]) {
    super({});
    this.base = base;
    this.related = related;
    this.other = other;
  }

  override async embedQuery(text: string) {
    this.asked.push(text);
    return this.vectorOf(text);
  }

  override async embedDocuments(texts: string[]) {
    this.stated.push(...texts);
    return texts.map((text) => this.vectorOf(text));
  }

  protected vectorOf(text: string): number[] {
    // "sailing" is of the topic BOATS, but no word of it.
    const topic = /[A-Z]{3,}/.exec(text.replace("sailing", "BOATS"))?.[0];
    if (topic === undefined && this.other) return this.other();
    const vector = new Array<number>(dimensions).fill(0);
    vector[0] = Math.sqrt(this.base);
    if (topic !== undefined) vector[this.axisOf(topic)] = Math.sqrt(this.related - this.base);
    vector[this.axisOf(text)] = Math.sqrt(1 - (topic === undefined ? this.base : this.related));
    return vector;
  }

  /** An axis of its own for each text and topic. */
  private axisOf(text: string): number {
    const axis = this.axes.get(text) ?? this.axes.size + 1;
    this.axes.set(text, axis);
    return axis;
  }
}

async function memoryWith(embeddings: Embeddings, schema = schemaName(), config = {}) {
  const memory = db.memory({ schema, embeddings, config });
  await memory.setup();
  return { memory, schema };
}

const scope = { userId: "ana" };
const unrelated = (count: number): MemoryDraft[] =>
  Array.from({ length: count }, (_, index) => ({ text: `w${index}a w${index}b w${index}c` }));

/** What query, tool and recall find for `query`. */
async function found(memory: Awaited<ReturnType<typeof memoryWith>>["memory"], query: string) {
  const answer: string = await memoryQueryTool(memory, { scope }).invoke({
    query,
    top_k: 20,
    budget_tokens: 8_000,
  });
  const { memories } = await memory.recall({ scope, threadId: `asks ${query}`, query });
  return {
    query: (await memory.query({ scope, query, topK: 50 })).map((hit) => hit.memory.text),
    tool: answer.startsWith("[")
      ? JSON.parse(answer).map((hit: { text: string }) => hit.text.slice(12))
      : [],
    recall: memories.relevant.map((hit) => hit.memory.text),
  };
}
const all = (texts: string[]) => ({ query: texts, tool: texts, recall: texts });
const question = "what about sailing?";
const related = "xyzzy BOATS plugh";
describe.each([0.05, 0.25, 0.7, 0.85])("a model that finds unrelated texts %d alike", (base) => {
  it("Query, tool and recall find related texts only", async () => {
    const { memory } = await memoryWith(new Model(base));
    await memory.memories.add({ scope, memories: unrelated(40) });
    expect(await found(memory, "nothing of that at all?")).toEqual(all([]));
    await memory.memories.add({ scope, memories: { text: related } });
    expect(await found(memory, question)).toEqual(all([related]));
    expect(await found(memory, "nothing of that at all?")).toEqual(all([]));
  });

  it("A threshold applies to the cosine similarity", async () => {
    const { memory } = await memoryWith(new Model(base));
    await memory.memories.add({ scope, memories: unrelated(5) });
    const query = { scope, query: "nothing of that at all?" };
    expect(await memory.query({ ...query, threshold: base - 0.02 })).toHaveLength(5);
    expect(await memory.query({ ...query, threshold: base + 0.02 })).toEqual([]);
  });
});

describe("an embedding space", () => {
  it("An embedding space is measured once for all processes and questions", async () => {
    const model = new Model(0.7);
    const { memory, schema } = await memoryWith(model);
    await memory.memories.add({ scope, memories: unrelated(3) });
    const probe = 1;
    expect(model.stated).toHaveLength(probe + 3);
    await Promise.all(
      ["first?", "second?", "third?"].map((query) => memory.query({ scope, query })),
    );
    const [asked, stated] = [model.asked.length, model.stated.length];
    expect(asked).toBeLessThan(20);
    expect(stated).toBeLessThan(20);
    expect(
      await db.memory({ schema, embeddings: model }).query({ scope, query: "fourth?" }),
    ).toEqual([]);
    await memory.query({ scope, query: "fifth?" });
    await memory.memories.add({ scope, memories: { text: "w9a w9b" } });
    expect([model.asked.length, model.stated.length]).toEqual([asked + 2, stated + 1]);
  });
});

describe("episodes", () => {
  it("Episodes beyond retrieval.maxEpisodeDistance are shown if the question has their words", async () => {
    const { memory } = await memoryWith(new Model(0.05, 0.8));
    const drafts: MemoryDraft[] = [
      { kind: "episode", text: "The user compared harbours and asked about lighthouse keepers." },
      { kind: "episode", text: "The user planned BOATS." },
    ];
    await memory.memories.add({ scope, memories: drafts });
    const ask = (query: string) => memory.recall({ scope, threadId: query, query });
    const shown = async (query: string) =>
      (await ask(query)).memories.episodes.map((hit) => hit.memory.text);
    expect(await shown("harbours and lighthouse keepers")).toEqual([
      "The user compared harbours and asked about lighthouse keepers.",
    ]);
    expect(await shown("sailing BOATS")).toEqual(["The user planned BOATS."]);
    expect(await shown("something else")).toEqual([]);
  });
});
