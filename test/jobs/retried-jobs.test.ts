import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import type { JobKind } from "../../src/jobs/job-kinds.rule.js";
import type { JobWorker } from "../../src/jobs/queue-work.js";
import type { Memory } from "../../src/memory.js";
import { httpClients } from "../http/http-client.js";
import { addNotes } from "../notes/note-facts.js";
import { type AppAddress, appOf, decided, newTalk, noted, say, talkAndEnd } from "../notes/note-model.js";
import { consolidateNow } from "../support/consolidate-now.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { judgingModel } from "../support/pair-judge.js";
import { candidate, facts, type TaskReplies, taskModel } from "../support/task-model.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import type { TestConfig, TestOptions } from "../support/test-memory.js";
import { limitsMs } from "../support/timing.js";

const db = useTestDatabase();
const isolated = useIsolatedDatabase(db);

/** Where the job is given up, and tried again. */
interface Place {
  readonly schema: string;
  /** Who does the work that is given up, and work of all tenants. */
  open(options: TestOptions): Memory;
  /** Who tries it again. */
  again(options: TestOptions): Memory;
}

/** A kind of work that a model, or the database, makes fail. */
interface Case {
  readonly kind: JobKind;
  readonly config?: TestConfig;
  /** The structured output that its model is asked for, and how it answers in the end. */
  readonly task: string;
  readonly reply: (prompt: string, call: number) => ReturnType<typeof facts>;
  /** Has it come about and be given up. */
  giveUp(memory: Memory, talk: AppAddress, place: Place): Promise<unknown>;
  /** What is there when it is done. */
  readonly done: readonly string[];
  effects(memory: Memory, talk: AppAddress): Promise<string[]>;
}

const bees = facts(candidate("The user keeps bees.", "I keep bees"));
const hiking = "The user enjoys hiking in the Alps every summer.";
const hikes = "Every summer the user enjoys hikes across the Alps.";
const textsOf = async (memory: Memory, scope: object, kind: "fact" | "episode" | "insight" | "note") =>
  (await memory.memories.list({ scope, kinds: [kind] })).map(({ text }) => text).toSorted();
const userOf = ({ scope: { appId: _, ...user } }: AppAddress) => user;

const cases: readonly Case[] = [
  {
    ...{ kind: "facts", task: "fact_extraction", config: { memories: { extract: true } } },
    reply: () => bees,
    giveUp: (memory, talk) => say(memory, talk, "I keep bees."),
    done: ["The user keeps bees."],
    effects: (memory, talk) => textsOf(memory, userOf(talk), "fact"),
  },
  {
    ...{ kind: "episodes", task: "episode_summary" },
    config: { memories: { episodes: true, episodeEveryTurns: 2, episodeKeepShare: 0 } },
    reply: () => ({ structured: { reasoning: "", summary: "They spoke of bees." } }),
    async giveUp(memory, talk) {
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
    ...{ kind: "notes", task: "app_note" },
    reply: () => noted("The customer keeps bees."),
    giveUp: (memory, talk) => talkAndEnd(memory, talk, "I keep bees."),
    done: ["The customer keeps bees."],
    effects: (memory, talk) => textsOf(memory, appOf(talk), "note"),
  },
  {
    ...{ kind: "compaction", task: "note_compaction", config: { notes: { limit: 2 } } },
    reply: () => decided({ target: 2 }),
    async giveUp(memory, talk, place) {
      await addNotes(memory, appOf(talk), ["Asked for Oslo.", "Asked for Lima."]);
      // A model that fails has the oldest note go: only the database gives such work up.
      await refusingToHide(place, async () => talkAndEnd(memory, talk));
    },
    done: ["Asked for Oslo.", "They talked."],
    effects: (memory, talk) => textsOf(memory, appOf(talk), "note"),
  },
  {
    ...{ kind: "insights", task: "user_insights" },
    config: { memories: { extract: true }, insights: { enabled: true } },
    reply: () => ({ structured: { insights: [{ summary: "The user is calm.", evidence: [1] }] } }),
    async giveUp(memory, talk) {
      await say(memory, talk, "I keep bees.");
      await memory.upkeep();
    },
    done: ["The user is calm."],
    effects: (memory, talk) => textsOf(memory, userOf(talk), "insight"),
  },
  {
    ...{ kind: "consolidation", task: "memory_pairs", config: { consolidation: { enabled: true } } },
    reply: (prompt, call) => judgingModel(() => "same").reply(prompt, call),
    async giveUp(memory, talk) {
      await memory.memories.add([{ text: hiking }, { text: hikes }], { scope: userOf(talk) });
      expect(await consolidateNow(memory, { scope: talk.scope })).toMatchObject({ status: "dead_letter" });
    },
    // Either of them stays.
    done: ["1 of 2"],
    effects: async (memory, talk) => [`${(await textsOf(memory, userOf(talk), "fact")).length} of 2`],
  },
];

const place: Place = {
  get schema() {
    return db.schema;
  },
  open: db.memory,
  again: db.memory,
};

/** Has the database refuse to take notes away while `work` is done. */
async function refusingToHide({ schema }: Place, work: () => Promise<unknown>): Promise<void> {
  await db.pool.query(`
    create function "${schema}".refuse() returns trigger language plpgsql as
      $$ begin raise exception 'out of order'; end $$;
    create trigger refuse before update on "${schema}".memory for each row
      when (old.kind = 'note' and new.state <> old.state) execute function "${schema}".refuse()`);
  try {
    await work();
  } finally {
    await db.pool.query(`drop function "${schema}".refuse cascade`);
  }
}

/** Gives the work of `kind` up, has it tried again by `retry`, and looks at what came of it. */
async function runs(
  { config, kind, task, reply, giveUp, done, effects }: Case,
  place: Place,
  retry: (memory: Memory, id: string, tenantId: string) => Promise<unknown>,
): Promise<void> {
  const tenantId = `tenant ${randomUUID()}`;
  const talk = newTalk(randomUUID(), tenantId);
  let broken = kind !== "compaction";
  const replies: TaskReplies = {
    app_note: () => noted("They talked."),
    fact_extraction: () => bees,
    [task]: (prompt: string, call: number) => (broken ? { structured: {} } : reply(prompt, call)),
  };
  const options: TestOptions = {
    model: taskModel(replies),
    config: {
      ...config,
      memories: { extract: false, episodes: false, ...config?.memories },
      notes: { limit: kind === "notes" || kind === "compaction" ? 10 : 0, ...config?.notes },
      insights: { enabled: false, ...config?.insights },
      consolidation: { enabled: false, ...config?.consolidation },
      upkeep: { maxAttempts: 1, maxFailures: 1, retryDelayMs: 0 },
    },
  };
  const memory = place.open(options);
  await giveUp(memory, talk, place);
  const [job, ...others] = await memory.jobs.list({ tenantId });
  expect(others).toEqual([]);
  expect(job).toMatchObject({ kind, state: "failed", attempts: null, dueAt: null });
  expect(await effects(memory, talk)).not.toEqual(done);

  broken = false;
  const again = place.again(options);
  const id = job?.id ?? "";
  await expect(again.jobs.retry(id, { tenantId: "another" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await retry(again, id, tenantId);
  expect(await effects(memory, talk)).toEqual(done);
  expect(await memory.jobs.list({ tenantId })).toEqual([]);
  await expect(again.jobs.retry(id, { tenantId })).rejects.toMatchObject({ code: "NOT_FOUND" });
  // It is done, and not done twice.
  await memory.upkeep();
  expect(await effects(memory, talk)).toEqual(done);
}

const byId = async (memory: Memory, id: string, tenantId: string) =>
  expect(await memory.jobs.retry(id, { tenantId })).toEqual({ retried: 1 });

describe("work that was given up is done when it is tried again", () => {
  it.for(cases)("$kind, by its id", (each) => runs(each, place, byId));
  it.for(cases)("$kind, with all of its kind", (each) =>
    runs(each, place, async (memory, _, tenantId) =>
      expect(await memory.jobs.retry({ kind: each.kind }, { tenantId })).toEqual({ retried: 1 }),
    ),
  );
  it.for(cases)("$kind, over HTTP, by operators alone", (each) =>
    runs(each, place, async (memory, id, tenantId) => {
      const api = httpClients(memory, {
        user: { role: "user", scope: { tenantId, userId: "ana" } },
        neighbour: { role: "operator", tenantId: "another" },
        operator: { role: "operator", tenantId },
      });
      expect((await api.user("POST", `/jobs/${id}/retry`)).status).toBe(404);
      expect((await api.neighbour("POST", `/jobs/${id}/retry`)).status).toBe(404);
      const listed = await api.operator("GET", "/jobs?state=failed");
      expect(listed.body.jobs).toMatchObject([{ id, kind: each.kind }]);
      expect(await api.operator("POST", `/jobs/${id}/retry`)).toMatchObject({
        ...{ status: 200, body: { retried: 1 } },
      });
    }),
  );
});

describe("work that was given up is not done when later work of its thread is", () => {
  it.each(cases.filter(({ kind }) => kind === "episodes" || kind === "notes"))("$kind", async (each) => {
    const talk = newTalk();
    let broken = true;
    const { config, task, reply, giveUp } = each;
    const memory = db.memory({
      model: taskModel({
        [task]: (prompt, call) => (broken ? { structured: {} } : reply(prompt, call)),
      } as TaskReplies),
      config: {
        ...config,
        notes: { limit: each.kind === "notes" ? 10 : 0 },
        upkeep: { maxAttempts: 1, retryDelayMs: 0 },
      },
    });
    await giveUp(memory, talk, place);
    const [letter] = await memory.jobs.list({ kind: each.kind, state: "failed" });
    broken = false;
    await giveUp(memory, talk, place);
    const later = await each.effects(memory, talk);
    expect(later).toHaveLength(1);
    await expect(memory.jobs.retry(letter?.id ?? "")).rejects.toMatchObject({ code: "WRONG_STATE" });
    expect(await each.effects(memory, talk)).toEqual(later);
    expect(await memory.jobs.list({ kind: each.kind })).toEqual([letter]);
  });
});

describe.runIf(onServer())("by workers, where the process that is asked only queues (server only)", () => {
  const queue = `queue_${randomUUID().slice(0, 8)}`;
  afterAll(() => db.pool.query(`drop schema if exists "${queue}" cascade`));

  it.for(cases)("$kind", async (each) => {
    let worker: JobWorker | undefined;
    let atWork = async () => {};
    const queued: Place = {
      schema: db.schema,
      open: db.memory,
      again({ model, config, ...options }) {
        const jobs = { pgBoss: { schema: queue } };
        const quick = { sweepIntervalMs: 60_000, pollIntervalMs: 100 };
        const working = { ...(config as TestConfig), jobs: quick };
        const web = db.memory({ ...options, jobs, config: working });
        atWork = async () => {
          worker = await db.memory({ ...options, model, jobs, config: working } as TestOptions).work();
        };
        return web;
      },
    };
    await runs(each, queued, async (web, id, tenantId) => {
      await atWork();
      await byId(web, id, tenantId);
      await expect
        .poll(() => web.jobs.list({ tenantId }), { timeout: limitsMs.step, interval: 100 })
        .toEqual([]);
    });
    expect(worker?.status()).toMatchObject({ failed: 0 });
    await worker?.stop();
  });
});

describe.runIf(onServer())("under row-level security too (server only)", () => {
  const placeOf = (role: "owner" | "app"): Place => ({
    schema: isolated.schema,
    open: (options) => isolated.memory({ role: "owner", ...options }),
    again: (options) => isolated.memory({ role, ...options }),
  });
  it.for(cases)("$kind, by the role that sees all tenants", (each) => runs(each, placeOf("owner"), byId));
  it.for(cases)("$kind, by one that sees its own", (each) => runs(each, placeOf("app"), byId));
});
