import type { Memory } from "../../src/memory.js";
import type { ScriptedReply } from "../../src/testing/index.js";
import type { WorkKind } from "../../src/work/work-kinds.rule.js";
import { addNotes } from "../notes/note-facts.js";
import { type AppAddress, appOf, decided, noted, say, talkAndEnd } from "../notes/note-model.js";
import { consolidateNow } from "./consolidate-now.js";
import { judgingModel, samePair } from "./pair-judge.js";
import { round } from "./spoken.js";
import { candidate, facts, type TaskReplies, taskModel } from "./task-model.js";
import type { TestConfig, TestOptions } from "./test-memory.js";
import { textsOf } from "./thread-facts.js";

export interface WorkCase {
  readonly kind: WorkKind;
  readonly config?: TestConfig;
  /** The structured output that the model returns. */
  readonly task: string;
  readonly reply: (prompt: string, call: number) => ScriptedReply;
  /** Causes the work, which starts at once. */
  begin(memory: Memory, talk: AppAddress): Promise<unknown>;
  /** The effects of the completed work. */
  readonly done: readonly string[];
  effects(memory: Memory, talk: AppAddress): Promise<string[]>;
}

const bees = facts(candidate("The user keeps bees.", "I keep bees"));
const userOf = ({ scope: { appId: _, ...scope } }: AppAddress) => ({ scope });

/** Every kind of work that a model does. */
export const workCases: readonly WorkCase[] = [
  {
    kind: "summaries",
    task: "conversation_summary",
    config: { summaries: { everyMessages: 2 } },
    reply: () => ({ structured: { reasoning: "", summary: "They spoke of bees." } }),
    begin: (memory, talk) => memory.remember({ ...talk, messages: ["1", "2", "3"].flatMap(round) }),
    done: ["0-5 They spoke of bees."],
    effects: async (memory, talk) =>
      (await memory.summaries.list(talk))
        .filter(({ status }) => status === "completed")
        .map(({ startSeq, endSeq, text }) => `${startSeq}-${endSeq} ${text}`),
  },
  {
    kind: "facts",
    task: "fact_extraction",
    config: { memories: { extract: true } },
    reply: () => bees,
    begin: (memory, talk) => say(memory, talk, "I keep bees."),
    done: ["The user keeps bees."],
    effects: (memory, talk) => textsOf(memory, userOf(talk), "fact"),
  },
  {
    kind: "episodes",
    task: "episode_summary",
    config: { memories: { episodes: true, episodeEveryTurns: 2, episodeKeepShare: 0 } },
    reply: () => ({ structured: { reasoning: "", summary: "They spoke of bees." } }),
    async begin(memory, talk) {
      await say(memory, talk, "I keep bees.");
      await say(memory, talk, "They are fine.");
    },
    done: ["They spoke of bees. 1-2"],
    effects: async (memory, talk) =>
      (await memory.memories.list({ scope: talk.scope, kinds: ["episode"] })).map(
        ({ text, turns }) => `${text} ${turns?.start}-${turns?.end}`,
      ),
  },
  {
    kind: "notes",
    task: "app_note",
    config: { notes: { limit: 10 } },
    reply: () => noted("The customer keeps bees."),
    begin: (memory, talk) => talkAndEnd(memory, talk, "I keep bees."),
    done: ["The customer keeps bees."],
    effects: (memory, talk) => textsOf(memory, { scope: appOf(talk) }, "note"),
  },
  {
    kind: "compaction",
    task: "note_compaction",
    config: { notes: { limit: 2 } },
    reply: () => decided({ target: 2 }),
    async begin(memory, talk) {
      await addNotes(memory, appOf(talk), ["Asked for Oslo.", "Asked for Lima."]);
      await talkAndEnd(memory, talk);
    },
    done: ["Asked for Oslo.", "They talked."],
    effects: (memory, talk) => textsOf(memory, { scope: appOf(talk) }, "note"),
  },
  {
    kind: "insights",
    task: "user_insights",
    config: { memories: { extract: true }, insights: { enabled: true } },
    reply: () => ({ structured: { insights: [{ summary: "The user is calm.", evidence: [1] }] } }),
    async begin(memory, talk) {
      await say(memory, talk, "I keep bees.");
      await memory.idle();
      await memory.upkeep({ kinds: ["insights"] });
    },
    done: ["The user is calm."],
    effects: (memory, talk) => textsOf(memory, userOf(talk), "insight"),
  },
  {
    kind: "consolidation",
    task: "memory_pairs",
    config: { consolidation: { enabled: true } },
    reply: judgingModel(() => "same").reply,
    async begin(memory, talk) {
      await memory.memories.add({ ...userOf(talk), memories: samePair });
      await consolidateNow(memory, talk);
    },
    // One of the two is merged into the other.
    done: ["1 of 2"],
    effects: async (memory, talk) => [
      `${(await textsOf(memory, userOf(talk), "fact")).length} of 2`,
    ],
  },
];

/** Options of a memory that does only this kind of work and its preconditions. */
export function optionsOf(
  { config, task }: Pick<WorkCase, "config" | "task">,
  reply: NonNullable<TaskReplies[string]>,
): TestOptions {
  const replies = {
    app_note: () => noted("They talked."),
    fact_extraction: () => bees,
    [task]: reply,
  };
  return {
    model: taskModel(replies),
    config: {
      ...config,
      summaries: config?.summaries
        ? { afterSeq: 5, ...config.summaries }
        : { everyMessages: 1_000, afterSeq: 1_000 },
      memories: { extract: false, episodes: false, ...config?.memories },
      notes: { limit: 0, ...config?.notes },
      insights: { enabled: false, ...config?.insights },
      consolidation: { enabled: false, ...config?.consolidation },
    },
  };
}
