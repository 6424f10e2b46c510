import { afterEach, describe, expect, it, vi } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import { useFreshSchemas } from "../support/fresh-schema.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestOptions } from "../support/test-memory.js";
import { textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);
afterEach(() => vi.restoreAllMocks());

const scope = { userId: "ana" };
/** What a model that answers at once does not take, and a test can wait for. */
const timeoutMs = 500;

/** Embeddings whose answers to documents can be held back. */
class Provider extends HashingEmbeddings {
  hangs = false;
  readonly asked: string[][] = [];
  private readonly held: (() => void)[] = [];

  constructor() {
    super({ dimensions: 16 });
  }

  override async embedDocuments(texts: string[]) {
    this.asked.push(texts);
    if (!this.hangs) return super.embedDocuments(texts);
    return new Promise<number[][]>((_, reject) => {
      this.held.push(() => reject(new Error("the connection was lost")));
    });
  }

  /** Ends what was held back, long after anybody waited for it. */
  fail() {
    for (const end of this.held.splice(0)) end();
  }
}

async function memoryOn(provider: Provider, options: TestOptions = {}): Promise<Memory> {
  const { memory } = await freshSchema();
  const config = { upkeep: { timeoutMs, retryDelayMs: 0 }, ...(options.config as object) };
  return memory({ embeddings: provider, ...options, config });
}

const say = (memory: Memory, threadId: string) =>
  memory.remember({
    scope,
    threadId,
    messages: [
      { role: "user", content: "I love chess." },
      { role: "assistant", content: "Noted." },
    ],
  });

describe("embeddings that never answer", () => {
  it("Embeddings that never answer are waited for once, for the timeout of each hundred texts", async () => {
    const provider = new Provider();
    const logger = recordingLogger();
    const memory = await memoryOn(provider, { logger });
    provider.hangs = true;
    const drafts = Array.from({ length: 101 }, (_, n) => ({ text: `Owns stamp ${n}.` }));
    const outcomes = await memory.memories.add({ scope, memories: drafts });
    expect(outcomes.every(({ outcome }) => outcome === "created")).toBe(true);
    await memory.memories.add({ scope, memories: { text: "Likes plums." } });
    expect(provider.asked).toHaveLength(1);
    provider.fail();
    provider.hangs = false;
    expect(logger.lines).toEqual([
      expect.stringMatching(/^warn: 101 of 101 .*within 1000 ms.*raise upkeep\.timeoutMs/),
      expect.stringMatching(/^warn: 1 of 1 .*within 1000 ms/),
    ]);
    expect(await memory.reembed()).toMatchObject({ embedded: 102, remaining: 0 });
  });

  it("Embeddings that never answer do not block other background work, idle or close", async () => {
    const provider = new Provider();
    const config = { memories: { extract: true }, jobs: { concurrency: 1 } };
    const memory = await memoryOn(provider, {
      jobs: "background",
      model: new OfflineChatModel(),
      config,
    });
    provider.hangs = true;
    await say(memory, "during");
    await expect.poll(() => provider.asked.length).toBe(1);
    provider.hangs = false;
    await say(memory, "after");
    await memory.idle();
    await memory.upkeep();
    await memory.idle();
    expect(await textsOf(memory, { scope })).toContainEqual(expect.stringContaining("chess"));
    provider.hangs = true;
    await say(memory, "closing");
    await memory.close();
  });

  it("A vector space that could not be measured is measured by a later question", async () => {
    const provider = new Provider();
    const memory = await memoryOn(provider, { config: { retrieval: { embedTimeoutMs: 20_000 } } });
    await memory.memories.add({ scope, memories: { text: "Likes plums." } });
    provider.hangs = true;
    const asked = async () => {
      const before = provider.asked.length;
      await memory.query({ scope, query: "plums?" });
      return provider.asked.length - before;
    };
    expect(await asked()).toBe(1);
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + 60_001);
    provider.hangs = false;
    expect(await asked()).toBe(1);
    expect(await asked()).toBe(0);
  });
});
