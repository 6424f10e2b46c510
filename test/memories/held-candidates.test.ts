import { randomUUID } from "node:crypto";
import fc from "fast-check";
import pg from "pg";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { MemoriesApi } from "../../src/memories/memories-api.js";
import { findWriteCandidates } from "../../src/memories/write/find-write-candidates.js";
import { findOpenPairs, gatherDrafts } from "../../src/memories/write/gather.js";
import { findGivenNeighbours } from "../../src/memories/write/held-neighbours.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useChildScripts } from "../support/child-scripts.js";
import { type HeldOwners, holdOwners, memoriesApi, writeRuntime } from "../support/held-neighbours.js";
import { planNodes, rowsOf } from "../support/query-plan.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const start = useChildScripts();
const space = "held";
const embeddings = new HashingEmbeddings({ dimensions: 48 });
const words = ["tea", "boat", "violin", "quince", "rain", "pear", "lake", "garden", "sail", "oar"];
const text = fc
  .array(fc.constantFrom(...words), { minLength: 2, maxLength: 4 })
  .map((said) => `Ana likes ${said.join(" ")}.`);

beforeAll(() => db.memory({ embeddings: Object.assign(embeddings, { model: space }) }).setup());

/** What bears on `texts`, by the copy that was taken and by all vectors. */
async function found(userId: string, held: HeldOwners, texts: readonly string[]) {
  const runtime = writeRuntime(db, { embeddings, space });
  const scope = { userId };
  const gathered = await gatherDrafts(runtime, { scope, drafts: texts.map((each) => ({ text: each })) });
  const sought = gathered.owners.flatMap(({ batches }) => batches.flatMap(({ statements }) => statements));
  const given = await findGivenNeighbours(held.find, { scope, space: gathered.space }, sought);
  const search = { ownerRef: given?.ownerRef ?? 0, space: gathered.space, sought };
  return {
    byCopy: await findWriteCandidates(runtime.db, { ...search, given }),
    byAll: await findWriteCandidates(runtime.db, search),
    openByCopy: await findOpenPairs({ ...runtime, neighbours: held.find }, search.ownerRef, gathered),
    openByAll: await findOpenPairs(runtime, search.ownerRef, gathered),
  };
}

interface Change {
  readonly how: string;
  readonly at: number;
  readonly text: string;
}

async function make(memories: MemoriesApi, scope: { userId: string }, { how, at, text: said }: Change) {
  const all = await memories.list({ scope, limit: 1_000 });
  const id = all[at % Math.max(1, all.length)]?.id;
  if (how === "add" || id === undefined) await memories.add({ text: said }, { scope });
  else if (how === "delete") await db.pool.query(`delete from "${db.schema}".memory where id = $1`, [id]);
  else if (how === "remove") await memories.remove(id, { scope });
  else await memories.update(id, { text: said }, { scope }).catch(() => {});
}

describe("what bears on a write", () => {
  const change = fc.record({
    how: fc.constantFrom("add", "update", "remove", "delete"),
    at: fc.nat(),
    text,
  });

  it("is the same by a copy and what changed since as by all vectors", { timeout: 600_000 }, async () => {
    let cut = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 5, maxLength: 40 }),
        fc.array(change, { maxLength: 12 }),
        fc.array(text, { minLength: 1, maxLength: 4 }),
        async (before, changes, sought) => {
          const scope = { userId: randomUUID() };
          const memories = memoriesApi(db, { embeddings, space });
          await memories.add(
            before.map((each) => ({ text: each })),
            { scope },
          );
          const held = holdOwners(db, space);
          await held.take(scope);
          for (const each of changes) await make(memories, scope, each);
          const { byCopy, byAll, openByCopy, openByAll } = await found(scope.userId, held, sought);

          expect(byCopy).toEqual(byAll);
          expect(openByCopy).toEqual(openByAll);
          cut += changes.length > 0 && before.length > 10 ? 1 : 0;
        },
      ),
      { numRuns: 25 },
    );
    expect(cut).toBeGreaterThan(0);
  });

  it("is found without going through the vectors of all memories", async () => {
    const scope = { userId: randomUUID() };
    const pool = onServer()
      ? new pg.Pool({ connectionString: inject("databaseUrl") ?? "", max: 1 })
      : db.pool;
    const { pool: watched, statements, inTransactions } = watchedPool(pool);
    const held = holdOwners(db, space);
    const memories = memoriesApi(
      { pool: watched, schema: db.schema },
      { embeddings, space, neighbours: held.find },
    );
    const many = 600;
    const unlike = Array.from({ length: many }, (_, n) => ({
      text: `Word${n} has term${n} and lexeme${n}.`,
    }));
    await memories.add(unlike, { scope });
    await held.take(scope);
    inTransactions.length = 0;
    statements.length = 0;
    await memories.add({ text: "Word7 has term7 and lexeme7." }, { scope });
    await memories.add({ text: "Quinces ripen in October." }, { scope });
    const search = inTransactions.find((each) => each.text.includes("candidate as"));
    const addition = statements.findLast((each) => each.text.includes("locked as"));

    // Once as the planner sees the tables, once as if it knew nothing of them.
    for (const mode of ["auto", "force_generic_plan"]) {
      await pool.query(`set plan_cache_mode = ${mode}`);
      for (const statement of [search, addition]) {
        await pool.query("begin");
        const { rows } = await pool.query(
          `explain (analyze, format json) ${statement?.text}`,
          statement?.values,
        );
        await pool.query("rollback");
        const read = (table: string) =>
          planNodes(rows)
            .filter((node) => node["Relation Name"] === table)
            .reduce((sum, node) => sum + rowsOf(node), 0);
        expect(read("memory_embedding")).toBeLessThan(20);
        expect(read("memory")).toBeLessThan(60);
      }
    }
    await pool.query("reset plan_cache_mode");
    if (onServer()) await pool.end();
  });

  it.skipIf(!onServer())(
    "is not missed by writers in four processes (server only)",
    { timeout: 300_000 },
    async () => {
      const scope = { userId: randomUUID() };
      const memories = memoriesApi(db, { embeddings, space });
      await memories.add({ text: "Ana has a harbour." }, { scope });
      const [writers, adds] = [4, 60];
      const processes = Array.from({ length: writers }, (_, writer) =>
        start("add-held", [inject("databaseUrl") ?? "", db.schema, scope.userId, `${writer}`, `${adds}`]),
      );

      expect(await Promise.all(processes.map(({ exitCode }) => exitCode))).toEqual(Array(writers).fill(0));
      const alone = processes.map(({ lines }) => Number(lines.at(-1)?.split(" ")[1]));
      expect(alone.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0);
      const all = await memories.list({ scope, states: ["active", "superseded", "merged"], limit: 1_000 });
      const third = adds / 3;
      const boats = all.filter(({ text: said }) => said.startsWith("Boat"));
      expect(boats.map(({ seenCount, state }) => [seenCount, state])).toEqual(
        Array(third).fill([writers, "active"]),
      );
      expect(new Set(boats.map(({ text: said }) => said)).size).toBe(third);
      expect(all.filter(({ text: said }) => /^(?:Harbour|Gull)/.test(said))).toHaveLength(
        2 * third * writers,
      );
      const berths = all.filter(({ key }) => key !== null);
      expect(berths).toHaveLength(third * writers);
      expect(
        berths
          .filter(({ state }) => state === "active")
          .map(({ key }) => key)
          .toSorted(),
      ).toEqual([0, 1, 2, 3].map((berth) => `berth_${berth}`));
      const broken = await brokenInvariants(db);
      expect(broken.filter(({ user }) => user === scope.userId)).toEqual([]);
    },
  );
});
