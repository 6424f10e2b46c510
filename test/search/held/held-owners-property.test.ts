import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Copy, heldKeys, keyOf, type Load, minute, pass, policy, settle } from "./policy.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const mostBytes = 100_000;

/** What can happen, to one of five owners. */
const who = fc.nat(4).map(keyOf);
const happening = fc.oneof(
  { weight: 12, arbitrary: fc.record({ what: fc.constant("miss" as const), who }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant("get" as const), who }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("drop" as const), who }) },
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant("end" as const),
      which: fc.nat(1),
      result: fc.oneof(
        { weight: 10, arbitrary: fc.integer({ min: 0, max: 60_000 }) },
        { weight: 1, arbitrary: fc.constantFrom(mostBytes + 1, null, "fails" as const) },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ what: fc.constant("grow" as const), who },
      by: fc.integer({ min: -30_000, max: 60_000 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 1_000, minute, 7 * minute),
    }),
  },
);

type Happening = typeof happening extends fc.Arbitrary<infer Each> ? Each : never;

/** A policy, and what should be true of it. */
function world() {
  const { owners, loads, copies } = policy({ mostBytes });
  /** Keys of the owners that were held, in the order of their use. */
  let used: string[] = [];
  /** What was being read when its owner was dropped, or all was closed. */
  const ended = new Set<Load>();
  const isHeld = (key: string) => heldKeys(owners).includes(key);
  const lastUsed = (key: string) => {
    used = [...used.filter((other) => other !== key), key];
  };
  const living = () => copies.filter(({ released }) => released === 0);

  const get = (key: string) => {
    const copy = owners.get(key);
    if (copy !== (living().find((each) => each.key === key) ?? null)) throw new Error("another copy");
    if (copy) lastUsed(key);
  };
  const drop = (key: string) => {
    for (const load of loads) if (load.key === key) ended.add(load);
    owners.drop(key);
    if (isHeld(key)) throw new Error("held after it was dropped");
  };
  const grow = (key: string, by: number) => {
    const copy = living().find((each) => each.key === key);
    if (copy) copy.bytes = Math.max(0, copy.bytes + by);
    owners.grown(key);
  };
  const happen = async (each: Happening) => {
    if (each.what === "miss") owners.missed(each.who);
    else if (each.what === "get") get(each.who);
    else if (each.what === "drop") drop(each.who);
    else if (each.what === "grow") grow(each.who, each.by);
    else if (each.what === "wait") await pass(each.ms);
    else await endLoad(each);
  };
  const endLoad = async ({ which, result }: Extract<Happening, { what: "end" }>) => {
    const load = loads[which];
    if (!load) return;
    const before = heldKeys(owners).toReversed();
    if (result === "fails") load.fail(new Error("away"));
    else load.finish(result === null ? null : new Copy(load.key, result));
    await settle();
    if (isHeld(load.key)) {
      if (ended.has(load)) throw new Error("a load survived");
      lastUsed(load.key);
    }
    // What had to go was used before all that stayed.
    const gone = before.filter((key) => !isHeld(key));
    expect(before.slice(0, gone.length)).toEqual(gone);
  };
  const check = () => {
    const { bytes, list, owners: count } = owners.status();
    const held = heldKeys(owners).toReversed();
    used = used.filter((key) => held.includes(key));
    const now = Date.now();
    expect({
      held,
      count,
      living: living()
        .map(({ key }) => key)
        .sort(),
      summed: list.reduce((sum, each) => sum + each.bytes, 0),
      underLimit: bytes <= mostBytes && living().reduce((sum, copy) => sum + copy.bytes, 0) <= bytes,
      releasedTwice: copies.filter(({ released }) => released > 1).length,
      idle: list.filter(({ lastUsedAt }) => now - Number(lastUsedAt) >= 10 * minute).length,
      twoLoads: loads.length <= 2 && new Set(loads.map(({ key }) => key)).size === loads.length,
      needless: loads.filter(({ key, signal }) => !signal.aborted && held.includes(key)).length,
      stopped: [...ended].every(({ signal }) => signal.aborted),
    }).toEqual({
      ...{ held: used, count: used.length, living: [...held].sort(), summed: bytes, underLimit: true },
      ...{ releasedTwice: 0, idle: 0, twoLoads: true, needless: 0, stopped: true },
    });
  };
  const close = async () => {
    const closing = owners.close();
    await pass(1_000);
    await closing;
    for (const load of [...loads]) load.finish(new Copy(load.key, 1));
    await settle();
    for (const { key } of copies) owners.missed(key, key);
    await settle();
    used = [];
    check();
    expect([loads.length, owners.status().loading, vi.getTimerCount()]).toEqual([0, 0, 0]);
    return owners.status().letGo;
  };
  return { happen, check, close };
}

it("whatever happens, limits hold, loads are single, and nothing outlives what ended it", async () => {
  const total: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 60, maxLength: 60 }), async (happenings) => {
      const { happen, check, close } = world();
      for (const each of happenings) {
        await happen(each);
        await settle();
        check();
      }
      for (const [why, count] of Object.entries(await close())) total[why] = (total[why] ?? 0) + count;
    }),
    { numRuns: 200 },
  );
  // All of it did happen.
  for (const why of ["idle", "full", "tooLarge", "dropped", "failed"])
    expect(total[why], why).toBeGreaterThan(0);
}, 120_000);
