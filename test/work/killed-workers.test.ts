import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { describe, expect, inject, it } from "vitest";
import { createGate } from "../../src/testing/index.js";
import { newTalk } from "../notes/note-model.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useChildScripts } from "../support/child-scripts.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import type { TestOptions } from "../support/test-memory.js";
import { limitsMs } from "../support/timing.js";
import { optionsOf, type WorkCase, workCases } from "../support/work-cases.js";

const db = useTestDatabase();
const start = useChildScripts();
const leaseMs = 1_000;

/** A conversation of a new tenant. */
const freshTalk = () => newTalk(randomUUID(), `tenant ${randomUUID()}`);

/** `options` with leases of a second and a manual clock. */
function leased({ config, ...options }: TestOptions, clock: () => Date): TestOptions {
  return { ...options, clock, config: { ...(config as object), upkeep: { leaseMs } } };
}

/** Work that waits at a gate, its worker and another. */
async function hanging(each: WorkCase, clock: () => Date) {
  const talk = freshTalk();
  const gate = createGate();
  const options = optionsOf(each, async (...asked) => gate.wait().then(() => each.reply(...asked)));
  const hung = db.memory({ ...leased(options, clock), jobs: "background" });
  const begun = each.begin(hung, talk);
  await expect.poll(() => gate.waiting).toBe(1);
  const other = db.memory(leased(optionsOf(each, each.reply), clock));
  return { talk, tenantId: talk.scope.tenantId, gate, hung, begun, other };
}

describe("jobs of a hung worker", () => {
  it.for(workCases)(
    "A hung job lists its worker and lease, and another worker does it once the lease has ended: $kind",
    async (each: WorkCase) => {
      let now = new Date();
      const { talk, tenantId, gate, hung, begun, other } = await hanging(each, () => now);
      const upkeep = () => other.upkeep({ kinds: [each.kind] });
      now = new Date(now.getTime() + leaseMs - 1);
      await upkeep();
      const worker = { state: "running", attempts: 1, worker: `${hostname()}:${process.pid}` };
      expect(await other.jobs.list({ tenantId, kind: each.kind })).toMatchObject([
        { ...worker, since: expect.any(Date), leaseUntil: new Date(now.getTime() + 1) },
      ]);
      expect(await each.effects(other, talk)).not.toEqual(each.done);
      now = new Date(now.getTime() + 2);
      expect(await upkeep()).toBe(1);
      expect(await each.effects(other, talk)).toEqual(each.done);

      gate.open();
      await Promise.all([begun, hung.idle()]);
      expect(await each.effects(other, talk)).toEqual(each.done);
      expect(await upkeep()).toBe(0);
      expect(await other.jobs.list({ tenantId, kind: each.kind })).toEqual([]);
      expect(await brokenInvariants(db)).toEqual([]);
      await hung.close();
    },
  );

  it.for(workCases)(
    "A job is given up when workers repeatedly die of it: $kind",
    async (each: WorkCase) => {
      const now = new Date();
      const { talk, tenantId, gate, hung, begun, other } = await hanging(each, () => now);
      await db.pool.query(
        `update "${db.schema}".work set attempts = 20, lease_until = lease_until - interval '1 day'
       where kind = $1 and coalesce(
         (select tenant_id from "${db.schema}".thread t where t.id = thread_ref),
         (select tenant_id from "${db.schema}".owner o where o.id = owner_ref)
       ) = $2`,
        [each.kind, tenantId],
      );
      expect(await other.upkeep({ kinds: [each.kind] })).toBe(1);
      expect(await other.jobs.list({ tenantId, kind: each.kind })).toMatchObject([
        { state: "failed", error: "The worker stopped before it was done.", dueAt: null },
      ]);
      expect(await each.effects(other, talk)).not.toEqual(each.done);
      gate.open();
      await Promise.all([begun, hung.idle()]);
      expect(await each.effects(other, talk)).not.toEqual(each.done);
      await hung.close();
    },
  );
});

describe.skipIf(!onServer())("jobs of a killed process (server only)", () => {
  it.for(workCases)(
    "A killed process's job lists its worker, is found again and is done once: $kind",
    { timeout: limitsMs.long },
    async (each) => {
      const talk = freshTalk();
      const { scope, threadId } = talk;
      const url = inject("databaseUrl") ?? "";
      const killed = start("work-until-killed", [
        ...[url, db.schema, each.kind, `${leaseMs}`],
        ...[scope.tenantId ?? "", scope.userId, scope.appId, threadId],
      ]);
      await killed.line("deep enough");
      await killed.kill();
      const memory = db.memory(optionsOf(each, each.reply));
      expect(await each.effects(memory, talk)).not.toEqual(each.done);
      const left = {
        worker: `${hostname()}:${killed.pid}`,
        since: expect.any(Date),
        leaseUntil: expect.any(Date),
      };
      expect(await memory.jobs.list({ tenantId: scope.tenantId, kind: each.kind })).toMatchObject([
        left,
      ]);
      await expect
        .poll(() => memory.upkeep({ kinds: [each.kind] }), {
          timeout: limitsMs.step,
          interval: 100,
        })
        .toBeGreaterThan(0);
      await expect.poll(() => each.effects(memory, talk)).toEqual(each.done);
      expect(await memory.jobs.list({ tenantId: scope.tenantId, kind: each.kind })).toEqual([]);
      expect(await brokenInvariants(db)).toEqual([]);
    },
  );
});
