import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryDraft, MemoryItem } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestOptions } from "../support/test-memory.js";
import { openThread } from "../support/thread-facts.js";

const db = useTestDatabase();
const newUser = () => ({ scope: { userId: randomUUID() } });
const open = (options?: TestOptions) => ({ memory: db.memory(options), user: newUser() });
type User = ReturnType<typeof newUser>;

const day = (n: number) => new Date(Date.UTC(2020, 0, n));
const job = (value: string, on?: number, fields: Partial<MemoryDraft> = {}): MemoryDraft => ({
  category: "profile",
  key: "job",
  value,
  text: `The user works as a ${value}.`,
  origin: "user",
  ...(on !== undefined && { validFrom: day(on) }),
  ...fields,
});

async function slotOf(memory: Memory, { scope }: User): Promise<MemoryItem[]> {
  const all = await memory.memories.list({ scope, states: ["active", "superseded"], limit: 1_000 });
  return all.toSorted(
    (one, other) =>
      one.validFrom.getTime() - other.validFrom.getTime() ||
      (one.validTo?.getTime() ?? Number.POSITIVE_INFINITY) -
        (other.validTo?.getTime() ?? Number.POSITIVE_INFINITY),
  );
}

/**
 * "cook 1–3, baker 3–": the values of a slot in the order of their time, those that held for no
 * time left out.
 */
async function historyOf(memory: Memory, user: User): Promise<string> {
  const dayOf = (date: Date) => 1 + (date.getTime() - day(1).getTime()) / 86_400_000;
  return (await slotOf(memory, user))
    .filter(({ validFrom, validTo }) => validTo?.getTime() !== validFrom.getTime())
    .map(
      ({ value, validFrom, validTo, state }) =>
        `${value} ${dayOf(validFrom)}–${validTo ? dayOf(validTo) : ""}${state === "active" && validTo ? "!" : ""}`,
    )
    .join(", ");
}

async function tell(memory: Memory, user: User, ...told: MemoryDraft[]) {
  for (const draft of told) await memory.memories.add({ ...user, memories: draft });
}

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, at) =>
    permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]),
  );
}

describe("values of a slot, added in any order", () => {
  it("A slot's value returns when repeated later, even if the value between is added last", async () => {
    const memory = db.memory();
    for (const order of permutations([
      job("cook", 1),
      job("baker", 3),
      job("cook", 5),
      job("smith", 7),
    ])) {
      const user = newUser();
      await tell(memory, user, ...order);
      expect(await historyOf(memory, user)).toBe("cook 1–3, baker 3–5, cook 5–7, smith 7–");
    }
  });

  it("A slot's values never overlap or run backwards, also with equal dates, and the latest is active", async () => {
    const memory = db.memory();
    const value = fc.constantFrom("cook", "baker", "smith");
    const told = fc.array(
      fc.record({ value, on: fc.integer({ min: 1, max: 6 }), correction: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(told, fc.boolean(), async (values, atOnce) => {
        const user = newUser();
        const drafts = values.map(({ value, on, correction }) => job(value, on, { correction }));
        if (atOnce) await memory.memories.add({ ...user, memories: drafts });
        else await tell(memory, user, ...drafts);
        const slot = await slotOf(memory, user);
        for (const { validFrom, validTo } of slot) {
          if (validTo) expect(validTo.getTime()).toBeGreaterThanOrEqual(validFrom.getTime());
        }
        const held = slot.filter(
          ({ validFrom, validTo }) => validTo?.getTime() !== validFrom.getTime(),
        );
        for (const [index, { validTo }] of held.entries()) {
          const next = held[index + 1];
          if (next) {
            expect(validTo).not.toBeNull();
            expect(validTo!.getTime()).toBeLessThanOrEqual(next.validFrom.getTime());
          }
        }
        expect(held.at(-1)).toMatchObject({ state: "active" });
        expect(slot.filter(({ state }) => state === "active")).toHaveLength(1);
        const lastDay = Math.max(...values.map(({ on }) => on));
        expect(values.filter(({ on }) => on === lastDay).map((one) => one.value)).toContain(
          held.at(-1)?.value,
        );
      }),
      { numRuns: 60, endOnFailure: true },
    );
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("A slot's values with an empty interval are not in its history", async () => {
    const { memory, user } = open();
    await tell(memory, user, job("baker", 4), job("cook", 4), job("smith", 6), job("cook", 2));
    expect(await historyOf(memory, user)).toBe("cook 2–6, smith 6–");
    await tell(memory, user, job("clerk", 5));
    expect(await historyOf(memory, user)).toBe("cook 2–5, clerk 5–6, smith 6–");
  });

  it("A slot's values without a time begin now, or when the active value begins", async () => {
    const { memory, user } = open({ clock: () => day(4) });
    await tell(memory, user, job("cook", 2), job("baker"), job("smith", 9), job("clerk"));
    expect(await historyOf(memory, user)).toBe("cook 2–4, baker 4–9, clerk 9–");
  });

  it("A slot's values do not overlap after a removal or a revert", async () => {
    const { memory, user } = open({ clock: () => day(20) });
    const [cook] = await memory.memories.add({ ...user, memories: job("cook", 1) });
    const [baker] = await memory.memories.add({ ...user, memories: job("baker", 5) });
    await memory.memories.remove({ ...user, id: baker!.id! });
    await tell(memory, user, job("smith", 3));
    expect(await historyOf(memory, user)).toBe("cook 1–3, smith 3–");
    const [clerk] = await memory.memories.add({ ...user, memories: job("clerk", 8) });
    await memory.memories.remove({ ...user, id: clerk!.id! });
    const trail = await memory.memories.history({ ...user, id: cook!.id! });
    await memory.memories.revert({ ...user, to: trail.at(-1)!.id, id: cook!.id! });
    expect(await historyOf(memory, user)).toBe("smith 3–8, cook 8–");
  });

  it("The database refuses a slot's values that run backwards", async () => {
    const { memory, user } = open();
    await tell(memory, user, job("cook", 2), job("baker", 5));
    const backwards = db.pool.query(
      `update "${db.schema}".memory set valid_to = valid_from - interval '1 day' where user_id = $1 and state = 'superseded'`,
      [user.scope.userId],
    );
    await expect(backwards).rejects.toThrow(/memory_interval/);
  });
});

describe("origins of a slot's values", () => {
  const told = (value: string, fields: Partial<MemoryDraft>) =>
    job(value, undefined, { origin: undefined, ...fields });
  const outcomeOf = async (...drafts: MemoryDraft[]) => {
    const { memory, user } = open();
    const last = drafts.at(-1)!;
    await tell(memory, user, ...drafts.slice(0, -1));
    const [outcome] = await memory.memories.add({ ...user, memories: last });
    const [active] = await memory.memories.list(user);
    return { memory, user, outcome: outcome?.outcome, active };
  };

  it.each([
    [
      "an assistant that calls it a correction",
      { origin: "assistant", confidence: 1, correction: true },
    ],
    ["a surer tool", { role: "tool", confidence: 1, correction: true }],
    ["code that names nobody", { confidence: 1, correction: true }],
    ["an insight", { kind: "insight", confidence: 1 }],
  ] as const)("A value of %s does not replace the user's own", async (_, fields) => {
    const said = told("cook", { role: "user", confidence: 0.6 });
    const { outcome, active, memory, user } = await outcomeOf(said, told("baker", fields));
    expect([outcome, active?.value]).toEqual(["kept", "cook"]);
    const [entry] = await memory.memories.history({ ...user, id: active!.id });
    expect(entry?.new).toMatchObject({ refused: "The user works as a baker.", reason: "source" });
  });

  it.each([
    ["an assistant", { origin: "assistant", confidence: 1 }],
    ["code", { confidence: 1, correction: true }],
  ] as const)("The user's own value, however unsure, replaces that of %s", async (_, fields) => {
    const { outcome, active, memory, user } = await outcomeOf(
      told("cook", fields),
      told("baker", { origin: "user", confidence: 0.4 }),
    );
    expect([outcome, active?.value]).toEqual(["replaced", "baker"]);
    const [old] = await memory.memories.list({ ...user, states: ["superseded"] });
    const [entry] = await memory.memories.history({ ...user, id: old!.id });
    expect(entry?.new).toMatchObject({ supersededBy: active?.id, reason: "source" });
  });

  it("A slot's value becomes the user's once the user repeats it, with the user's words", async () => {
    const { outcome, active, memory, user } = await outcomeOf(
      told("cook", { origin: "tool", text: "The records give the user's job as cook." }),
      told("Cook", { origin: "user", text: "The user cooks for a living." }),
    );
    expect(outcome).toBe("updated");
    expect(active).toMatchObject({
      text: "The user cooks for a living.",
      origin: "user",
      trust: "user",
    });
    expect(
      await memory.memories.add({
        ...user,
        memories: told("baker", { origin: "tool", confidence: 1 }),
      }),
    ).toMatchObject([{ outcome: "kept", id: active!.id }]);
    // An echo by an assistant does not make the user's word later than it is.
    const echo = told("cook", {
      origin: "assistant",
      confidence: 1,
      validFrom: new Date("2300-01-01"),
    });
    await memory.memories.add({ ...user, memories: echo });
    const moved = told("smith", { origin: "user", validFrom: new Date("2200-01-01") });
    expect(await memory.memories.add({ ...user, memories: moved })).toMatchObject([
      { outcome: "replaced" },
    ]);
  });

  it("The origin of a memory sets its default confidence", async () => {
    const { memory, scope } = openThread(db);
    const origins = ["operator", "user", "tool", "document", "assistant", "import"] as const;
    const drafts = origins.map((origin) => ({ origin, text: `The ${origin} says something.` }));
    await memory.memories.add({ scope, memories: [...drafts, { text: "Code says something." }] });
    const known = await memory.memories.list({ scope });
    expect(known.map(({ confidence }) => confidence).toReversed()).toEqual(
      [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.8].map((confidence) => expect.closeTo(confidence)),
    );
  });
});
