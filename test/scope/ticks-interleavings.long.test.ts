import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, inject, it, vi } from "vitest";
import type { Memory, Scope } from "../../src/index.js";
import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import { change, changeNames, scopesOf } from "../support/any-change.js";
import { type ChildScript, useChildScripts } from "../support/child-scripts.js";
import { heldCopies } from "../support/held-copies.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

vi.setConfig({ testTimeout: limitsMs.long });
const db = useTestDatabase();
const start = useChildScripts();
const embeddings = new HashingEmbeddings({ dimensions: 16 });
const config = {
  lifecycle: { purgeAfterMs: 100 },
  memories: { extract: true, episodes: true, episodeEveryTurns: 2, episodeKeepTurns: 0, linkSimilarity: 0.3 },
};

const turn = fc.record({
  who: fc.nat(3),
  name: fc.constantFrom(...changeNames),
  n: fc.nat(99),
  // Whether a copy that is seldom looked at is brought up to date.
  looks: fc.nat(5),
});

type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never;

/** Does all of `turns`, and compares copies with the tables: one after each turn, one at times. */
async function play(memory: Memory, turns: readonly Turn[]) {
  const scopes = scopesOf(`user ${randomUUID()}`);
  const [often, seldom] = [heldCopies(db.pool, db.schema), heldCopies(db.pool, db.schema)];
  let done = 0;
  for (const { who, looks, ...what } of turns) {
    if ((await change(memory, { ...what, scope: scopes[who] as Scope })) === undefined) done++;
    expect([what.name, await often.differences()]).toEqual([what.name, []]);
    if (looks === 0) expect(await seldom.differences()).toEqual([]);
  }
  expect(await seldom.differences()).toEqual([]);
  for (const userId of new Set(scopes.map(({ userId }) => userId))) await memory.forget({ userId } as Scope);
  return { ...often.counts, done };
}

/** Ends the session of a writer that is in the middle of something. */
async function cutWriter(): Promise<void> {
  await db.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = $1 and state <> 'idle' order by random() limit 1`,
    [`writer of ${db.schema}`],
  );
}

const writer = (seed: number) =>
  start("change-anything", [inject("databaseUrl") ?? "", db.schema, `${seed}`]);

/** Cuts connections of `writers` and kills some of them, for whom others come, until it is enough; ends them all. */
async function trouble(writers: ChildScript[], enough: () => boolean): Promise<void> {
  for (const { line } of writers) await line("at work");
  for (let blow = 1; !enough() && blow <= 200; blow++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    if (blow % 3 === 0) await cutWriter();
    if (blow % 8 !== 0) continue;
    await writers.at(-1 - (blow % 3))?.kill();
    writers.push(writer(10 + blow));
  }
  for (const { kill } of writers) await kill();
}

describe("copies of what is held, kept by ticks", () => {
  it("are right after any calls in any order", async () => {
    const memory = db.memory({ embeddings, config, model: new OfflineChatModel() });
    await memory.setup();
    const total = { reloads: 0, rows: 0, done: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 10, maxLength: 30 }), async (turns) => {
        const { reloads, rows, done } = await play(memory, turns);
        total.reloads += reloads;
        total.rows += rows;
        total.done += done;
      }),
      { numRuns: 25, seed: Number(process.env.PROPERTY_SEED ?? 1) },
    );
    // The copies were kept, and not only read anew.
    expect(total.done).toBeGreaterThan(100);
    expect(total.rows).toBeGreaterThan(total.reloads);
    expect(total.reloads).toBeGreaterThan(0);
  });

  it.skipIf(!onServer())(
    "are right in every snapshot, whoever writes and is killed meanwhile (server only)",
    async () => {
      await db.memory({ embeddings }).setup();
      const writers = [1, 2, 3].map(writer);
      const readers = [1, 2, 3].map(() => heldCopies(db.pool, db.schema));
      const rows = () => Math.min(...readers.map(({ counts }) => counts.rows));
      const writing = new AbortController();
      const reading = readers.map(async ({ differences }) => {
        while (!writing.signal.aborted) expect(await differences()).toEqual([]);
        expect(await differences()).toEqual([]);
      });
      await Promise.all([...reading, trouble(writers, () => rows() >= 100).finally(() => writing.abort())]);
      expect(writers.flatMap(({ lines }) => lines.filter((line) => line.startsWith("unexpected")))).toEqual(
        [],
      );
      expect(rows()).toBeGreaterThanOrEqual(100);
    },
  );
});
