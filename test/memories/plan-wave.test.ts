import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { StandingConsent } from "../../src/memories/guard/decide-proposal.rule.js";
import type { MemoryDraft } from "../../src/memories/item/memory.js";
import { sourceRank } from "../../src/memories/slot/slot-conflict.rule.js";
import type { WritePlan } from "../../src/memories/write/apply-plan.js";
import { planWave } from "../../src/memories/write/plan-wave.js";
import { type PreparedMemory, prepareMemory } from "../../src/memories/write/prepare-memory.js";
import type { GatheredStatement, KnownMemory, Statement } from "../../src/memories/write/statement.js";
import { inWaves } from "../../src/memories/write/waves.js";
import type { WriteOutcome } from "../../src/memories/write/write-runtime.js";
import { resolveConfig } from "../../src/options.js";

const config = resolveConfig(undefined);
const owner = { ref: 1, revision: 1, turns: 9, now: new Date("2025-06-01") };

interface Stored extends Omit<KnownMemory, "relation" | "similarity"> {
  readonly key: string | null;
  readonly contentHash: string;
  readonly state: string;
}

/** What PostgreSQL would hold, as far as plans change it. */
class Store {
  readonly memories = new Map<string, Stored>();
  readonly requests = new Map<string, StandingConsent & { readonly field: string }>();

  gather(statement: Statement): GatheredStatement {
    const { category, key = null, kind, contentHash, validFrom = owner.now } = statement.memory;
    const all = [...this.memories.values()];
    const active = all.filter(({ state }) => state === "active");
    const ofSlot = (memory: Stored) => key !== null && memory.category === category && memory.key === key;
    const closed = all
      .filter((memory) => memory.state === "superseded" && ofSlot(memory))
      .toSorted((one, other) => one.validFrom.getTime() - other.validFrom.getTime());
    const as = (relation: KnownMemory["relation"], memory: Stored | undefined, similarity = 1) =>
      memory ? [{ ...memory, relation, similarity }] : [];
    const field = `${category}/${key}`;
    return {
      statement,
      known: [
        ...as("slot", active.find(ofSlot)),
        ...as(
          "before",
          closed.findLast((memory) => memory.validFrom <= validFrom),
        ),
        ...as(
          "after",
          closed.find((memory) => memory.validFrom > validFrom),
        ),
        ...as(
          "same",
          active.find((memory) => memory.kind === kind && memory.contentHash === contentHash),
        ),
        ...active.flatMap((memory) => as("near", memory, 0.99)),
      ],
      standing: [...this.requests.values()].filter((request) => request.field === field),
    };
  }

  apply(plan: WritePlan): void {
    for (const { id, state, validTo } of plan.deactivated) {
      this.change(id, { state, ...(validTo !== null && { validTo: new Date(validTo) }) });
    }
    for (const { id, validFrom, validTo } of plan.moves) {
      this.change(id, { ...(validFrom && { validFrom }), ...(validTo && { validTo }) });
    }
    for (const { id, copyId, until, from } of plan.splits) {
      const whole = this.memories.get(id) as Stored;
      this.memories.set(copyId, { ...whole, id: copyId, state: "superseded", validTo: until });
      this.change(id, { validFrom: from });
    }
    for (const row of plan.created) {
      const validFrom = new Date(row.validFrom ?? owner.now);
      const times = {
        validFrom,
        assertedAt: validFrom,
        validTo: row.validTo === null ? null : new Date(row.validTo),
      };
      const { id, assertedTurn: turn, key } = row;
      const ref = this.memories.size + 1;
      const lasting = { expiresAt: null, expired: false };
      const shown = { ref, turn, keyed: key !== null, rank: sourceRank(row) };
      this.memories.set(id, { ...row, ...times, ...lasting, ...shown });
    }
    for (const { id, text, contentHash } of plan.rewrites) this.change(id, { text, contentHash });
    for (const { id } of plan.settled) this.requests.delete(id);
    for (const { id, category, key, normalValue, contentHash, signals, draft } of plan.requests) {
      const { text } = draft;
      const validFrom = draft.validFrom === undefined ? null : new Date(draft.validFrom);
      const standing = { id, status: "pending", expired: false, normalValue, contentHash, signals } as const;
      this.requests.set(id, { ...standing, text, validFrom, field: `${category}/${key}` });
    }
  }

  private change(id: string, fields: Partial<Stored>): void {
    this.memories.set(id, { ...(this.memories.get(id) as Stored), ...fields });
  }
}

function write(store: Store, drafts: readonly MemoryDraft[], isAgreed: boolean): Map<number, WriteOutcome> {
  const statements = drafts.map((draft, place): Statement => {
    const memory = prepareMemory(draft, { userId: "ana" }, { ...config, language: "english" });
    return {
      memory: memory as PreparedMemory,
      vector: null,
      said: [{ draft: place, turnsAgo: 0, source: undefined }],
    };
  });
  const origin = {
    actor: "api",
    step: "api",
    consent: isAgreed ? { via: "code" as const } : undefined,
  } as const;
  const context = { owner, config, origin, answers: [], language: "english", newId: randomUUID };
  const all = new Map<number, WriteOutcome>();
  for (const wave of inWaves(statements)) {
    const gathered = wave.map((statement) => store.gather(statement));
    const { plan, outcomes } = planWave({ ...context, alike: [] }, gathered);
    store.apply(plan);
    for (const [place, outcome] of outcomes) all.set(place, outcome);
  }
  return all;
}

const field = fc.constantFrom(
  { category: "preferences", key: "editor" },
  { category: "profile", key: "city" },
  { category: "goals", key: "race" },
  { category: "preferences" },
  { category: "goals" },
);
const someDraft = fc
  .record({
    field,
    name: fc.constantFrom("Vim", "Porto", "Rome"),
    on: fc.option(fc.integer({ min: 1, max: 5 })),
    origin: fc.constantFrom("user" as const, "assistant" as const),
    correction: fc.boolean(),
  })
  .map(({ field, name, on, ...fields }): MemoryDraft => {
    const validFrom = on === null ? {} : { validFrom: new Date(Date.UTC(2025, 0, on)) };
    return { ...field, ...fields, ...validFrom, value: name, text: `The user has chosen ${name}.` };
  });
const someCalls = fc.array(fc.tuple(fc.array(someDraft, { maxLength: 6 }), fc.boolean()), { maxLength: 5 });

it("whatever is told, each draft has an outcome that stands, and nothing is there twice", () => {
  fc.assert(
    fc.property(someCalls, (calls) => {
      const store = new Store();
      for (const [drafts, isAgreed] of calls) {
        const outcomes = write(store, drafts, isAgreed);
        expect([...outcomes.keys()].toSorted((one, other) => one - other)).toEqual([...drafts.keys()]);
        for (const { id, consentId, outcome } of outcomes.values()) {
          expect(id === null).toBe(consentId !== undefined);
          if (id !== null) expect(store.memories.has(id), outcome).toBe(true);
        }
        const active = [...store.memories.values()].filter(({ state }) => state === "active");
        const slots = active.flatMap(({ category, key }) => (key === null ? [] : `${category}/${key}`));
        const words = active.map(({ kind, contentHash }) => `${kind} ${contentHash}`);
        const asked = [...store.requests.values()].flatMap(({ field }) =>
          field.endsWith("/null") ? [] : field,
        );
        for (const names of [slots, words, asked]) expect(names).toEqual([...new Set(names)]);
      }
    }),
  );
});
