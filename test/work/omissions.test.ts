import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { createGate, type ScriptedReply } from "../../src/testing/index.js";
import { newTalk, say } from "../notes/note-model.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig } from "../support/test-memory.js";
import { deadLettersOf, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const told = "I was diagnosed with epilepsy in 2019.";
const request = "Please delete what I told you about my epilepsy.";
const plan = "I plan a trip to Rome.";
const fact = "The user was diagnosed with epilepsy in 2019.";
const harmless = "The user planned a trip to Rome.";

type Talk = ReturnType<typeof newTalk>;

/** Each kind of background work: its answer, and its memories. */
const makers: readonly {
  readonly task: string;
  readonly config: TestConfig;
  readonly answer: (text: string) => object;
  readonly end?: (memory: Memory, talk: Talk) => Promise<unknown>;
  readonly kept: (memory: Memory, talk: Talk) => Promise<(string | null)[]>;
}[] = [
  {
    task: "episode_summary",
    config: { memories: { episodes: true, episodeEveryTurns: 4, episodeKeepShare: 0 } },
    answer: (summary) => ({ summary }),
    kept: (memory, talk) => textsOf(memory, talk, "episode"),
  },
  {
    task: "conversation_summary",
    config: { summaries: { everyMessages: 7 } },
    answer: (summary) => ({ summary }),
    kept: async (memory, talk) => (await memory.summaries.list(talk)).map(({ text }) => text),
  },
  {
    task: "app_note",
    config: {},
    answer: (note) => ({ note, importance: 3, tags: [] }),
    end: (memory, talk) => memory.threads.end(talk),
    kept: (memory, { scope: { appId } }) => textsOf(memory, { scope: { appId } }, "note"),
  },
  {
    task: "user_insights",
    config: { insights: { enabled: true } },
    answer: (summary) => ({ insights: [{ summary, evidence: [1] }] }),
    end: (memory) => memory.upkeep(),
    kept: (memory, { scope: { userId } }) => textsOf(memory, { scope: { userId } }, "insight"),
  },
];

/**
 * A conversation in which `told` was learned and forgotten, by the user or by code; then `maker` is
 * due.
 */
async function forgotten(
  { task, config, answer, end }: (typeof makers)[number],
  answers: (call: number) => string,
  { byCode = false, echo = "I see." } = {},
) {
  const model = taskModel({
    [task]: (_, call) => ({ structured: answer(answers(call)) as never }),
    fact_extraction: (prompt) => {
      const number = Number(
        new RegExp(`<memory number="(\\d+)"[^>]*>${fact}`).exec(prompt)?.[1] ?? 0,
      );
      if (prompt.includes(`>${plan}<`))
        return facts(candidate("The user plans a trip to Rome.", plan));
      const forget = number > 0 ? [{ memory: number, message: 1, quote: request }] : [];
      return { structured: { reasoning: "", facts: [], forget } } as never;
    },
  });
  const upkeep = { retryDelayMs: 0, maxAttempts: 1 };
  const memory = db.memory({
    model,
    config: { ...config, upkeep, memories: { extract: true, ...config.memories } },
  });
  const talk = newTalk();
  const scope = { userId: talk.scope.userId };
  await say(memory, talk, told, "I am sorry to hear of your epilepsy.");
  const [stored] = await memory.memories.add({
    scope,
    consent: "given",
    memories: {
      text: fact,
      category: "knowledge",
      source: { threadId: talk.threadId, seqs: [0], quote: told },
    },
  });
  await say(memory, talk, plan, echo);
  if (byCode) await memory.memories.remove({ scope, id: stored?.id ?? "" });
  await say(memory, talk, byCode ? "In May, that is." : request);
  expect((await memory.memories.get({ scope, id: stored?.id ?? "" }))?.state).toBe("soft_deleted");
  await say(memory, talk, "Which month is best?");
  await end?.(memory, talk);
  return { memory, talk, prompts: model.prompts(task) };
}

describe("a forgotten memory", () => {
  it.each(makers.flatMap((maker) => [false, true].map((byCode) => ({ ...maker, byCode }))))(
    "A forgotten memory is neither in the prompt of $task nor in its answer (by code: $byCode)",
    async ({ byCode, ...maker }) => {
      const leak = (call: number) =>
        call === 0 ? "The user has had epilepsy since 2019." : harmless;
      const { memory, talk, prompts } = await forgotten(maker, leak, { byCode });
      expect(prompts).toHaveLength(2);
      expect(prompts.join()).not.toContain("epilepsy");
      expect(prompts[0]).toContain("Rome");
      expect(await maker.kept(memory, talk)).toEqual([harmless]);
    },
  );

  it.each(makers.filter(({ task }) => task !== "user_insights"))(
    "A forgotten memory is named to $task where messages say it, and no answer may repeat it",
    async (maker) => {
      const { memory, talk, prompts } = await forgotten(
        maker,
        () => "Rome suits people with epilepsy.",
        {
          echo: "Rome is fine with epilepsy.",
        },
      );
      expect(prompts[0]).toContain(`<forgotten>\n<memory>${fact}</memory>\n</forgotten>`);
      expect((await maker.kept(memory, talk)).filter((text) => text?.includes("epilepsy"))).toEqual(
        [],
      );
      for (const { output } of await deadLettersOf(db, talk))
        expect(output ?? "").not.toContain("epilepsy");
    },
  );

  it("A forgotten memory excludes nothing else: words of others, or new words of the user", async () => {
    const [maker] = makers;
    const again = "The user read in 2019 that haste was diagnosed as the disease of Rome.";
    const { memory, talk } = await forgotten(maker!, () => again, {
      echo: "In 2019 haste was diagnosed there.",
    });
    expect(await maker!.kept(memory, talk)).toEqual([again]);
  });
});

describe("a summary during an extraction", () => {
  const busy = (fact_extraction: () => Promise<ScriptedReply>, more: TestConfig = {}) => {
    const model = taskModel({ fact_extraction });
    const config = { memories: { extract: true }, summaries: { everyMessages: 2 }, ...more };
    return { model, memory: db.memory({ model, config, jobs: "background" }), talk: newTalk() };
  };
  const made = async (memory: Memory, talk: Talk) =>
    (await memory.summaries.list(talk)).filter(({ status }) => status === "completed").length;

  it("A summary waits for an extraction that may find a request to forget, and so does `idle`", async () => {
    const gate = createGate();
    const { memory, model, talk } = busy(async () => {
      await gate.wait();
      return facts();
    });
    for (const text of [told, plan, "In May."]) await say(memory, talk, text);
    await expect.poll(() => gate.waiting).toBeGreaterThan(0);
    await delay(1_500);
    expect(model.prompts("conversation_summary")).toEqual([]);
    // It is put off by a second each time.
    let due: Date | null | undefined;
    await expect
      .poll(async () => {
        const jobs = await memory.jobs.list({ kind: "summaries" });
        due = jobs.find(({ threadId }) => threadId === talk.threadId)?.dueAt;
        return due;
      })
      .toBeInstanceOf(Date);
    expect(Number(due) - Date.now()).toBeLessThanOrEqual(1_000);
    gate.open();
    await memory.idle();
    expect(await made(memory, talk)).toBeGreaterThan(0);
    const tried = (await memory.jobs.list()).filter(({ threadId }) => threadId === talk.threadId);
    expect(tried.filter(({ attempts }) => (attempts ?? 0) > 0)).toEqual([]);
  });

  it.each([
    ["fail", { upkeep: { retryDelayMs: 60_000 } }],
    ["are for later", { memories: { extract: true, extractAfterMessages: 50 } }],
    ["are off", { memories: { extract: false } }],
  ] as const)("A summary does not wait where facts %s", async (_, config) => {
    const { memory, talk } = busy(() => Promise.reject(new Error("overloaded")), config);
    for (const text of [told, plan, "In May."]) await say(memory, talk, text);
    await memory.idle();
    expect(await made(memory, talk)).toBeGreaterThan(0);
  });
});
