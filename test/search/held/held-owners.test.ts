import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createHeldOwners } from "../../../src/search/held/held-owners.js";
import { ownerKey } from "../../../src/search/held/owner-key.js";
import { Copy, heldKeys, keyOf, type Load, minute, pass, policy, settle } from "./policy.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("an owner", () => {
  it("is taken in at the second recall within the time, and no sooner", async () => {
    const { owners, loads, copies } = policy();
    owners.missed(keyOf("ana"));
    await pass(10 * minute + 1);
    owners.missed(keyOf("ana"));
    await settle();
    expect([loads.length, owners.get(keyOf("ana"))]).toEqual([0, null]);
    await pass(10 * minute);
    owners.missed(keyOf("ana"));
    // Nothing of it is done before the recall has its answer.
    expect(loads).toHaveLength(0);
    await settle();
    expect(loads).toHaveLength(1);
    expect(owners.status()).toMatchObject({ owners: 0, loading: 1, served: { held: 0, statement: 3 } });
    loads[0]!.finish(new Copy(keyOf("ana"), 1_000));
    await settle();
    expect(owners.get(keyOf("ana"))).toBe(copies[0]);
    owners.answered();
    expect(owners.status()).toMatchObject({
      ...{ enabled: true, owners: 1, memories: 1, loading: 0, served: { held: 1, statement: 3 } },
      list: [{ scope: { userId: "user ana" }, memories: 1, messages: 2, loadedAt: expect.any(Date) }],
    });
  });

  it("counts one recall for a user and an app that are asked for together", async () => {
    const { owners, loads } = policy();
    owners.missed(keyOf("ana"), ownerKey({ appId: "shop" }));
    owners.missed(keyOf("ben"), ownerKey({ appId: "shop" }));
    await settle();
    expect(loads.map(({ key }) => key)).toEqual([ownerKey({ appId: "shop" })]);
    expect(owners.status().served).toEqual({ held: 0, statement: 2 });
  });

  it("is taken in when it is written to again after twenty writes within the time", async () => {
    const { owners, loads } = policy();
    const [ana, ben, eve] = [keyOf("ana"), keyOf("ben"), keyOf("eve")];
    const write = async (key: string, times: number) => {
      for (let write = 0; write < times; write++) owners.written(key);
      await settle();
      return loads.map((load) => load.key);
    };
    await write(eve, 20);
    await pass(10 * minute + 1);
    await write(eve, 19);
    expect(await write(ana, 20)).toEqual([]);
    expect(await write(ana, 1)).toEqual([ana]);
    expect(await write(eve, 1)).toEqual([ana]);
    expect(await write(ben, 21)).toEqual([ana, ben]);
    for (const load of [...loads]) load.finish(new Copy(load.key, 1_000));
    expect(await write(eve, 1)).toEqual([eve]);
    expect(await write(ana, 30)).toEqual([eve]);
    expect(owners.status()).toMatchObject({ owners: 2, served: { held: 0, statement: 0 } });
  });

  it("is let go when it was not asked for, by one timer that keeps no process alive", async () => {
    const { owners, hold } = policy();
    const ana = await hold(keyOf("ana"));
    await pass(5 * minute);
    const ben = await hold(keyOf("ben"));
    expect(vi.getTimerCount()).toBe(1);
    await pass(4 * minute);
    expect(owners.get(keyOf("ana"))).toBe(ana);
    await pass(6 * minute);
    expect([heldKeys(owners), ben.released]).toEqual([[keyOf("ana")], 1]);
    await pass(4 * minute - 1);
    expect(ana.released).toBe(0);
    await pass(1);
    expect(ana.released).toBe(1);
    expect(owners.status()).toMatchObject({ owners: 0, bytes: 0, letGo: { idle: 2 } });
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ["too large or not to be held", (load: Load) => load.finish(null), "tooLarge", 0],
    ["larger than all may be", (load: Load) => load.finish(new Copy(load.key, 100_001)), "tooLarge", 0],
    ["not to be read", (load: Load) => load.fail(new Error("away")), "failed", 1],
  ] as const)("that is %s is left alone for a time", async (_, end, why, failures) => {
    const { owners, loads, copies, errors, missTwice } = policy();
    await missTwice(keyOf("ana"));
    end(loads[0]!);
    await settle();
    expect([errors.length, copies.every(({ released }) => released === 1)]).toEqual([failures, true]);
    expect(owners.status()).toMatchObject({ owners: 0, bytes: 0, letGo: { [why]: 1 } });
    for (let waited = 0; waited < 9; waited++) {
      await pass(minute);
      await missTwice(keyOf("ana"));
    }
    expect(loads).toHaveLength(0);
    await pass(minute);
    await missTwice(keyOf("ana"));
    expect(loads).toHaveLength(1);
  });

  it("that grew beyond all bounds is let go alone", async () => {
    const { owners, hold } = policy();
    const [ana, ben] = [await hold(keyOf("ana")), await hold(keyOf("ben"))];
    ana.bytes = 100_001;
    owners.grown(keyOf("ana"));
    expect([ana.released, ben.released, heldKeys(owners)]).toEqual([1, 0, [keyOf("ben")]]);
    ben.bytes = 50_000;
    owners.grown(keyOf("ben"));
    owners.grown(keyOf("nobody"));
    expect(owners.status().bytes).toBeGreaterThanOrEqual(50_000);
    expect(owners.status()).toMatchObject({ owners: 1, letGo: { tooLarge: 1, full: 0 } });
  });

  it("that was dropped is taken in anew at its next recall, and what was under way comes to nothing", async () => {
    const { owners, loads, copies, hold, missTwice } = policy();
    const ana = await hold(keyOf("ana"));
    owners.drop(keyOf("ana"));
    owners.drop(keyOf("ana"));
    expect([ana.released, owners.get(keyOf("ana"))]).toEqual([1, null]);
    owners.missed(keyOf("ana"));
    await settle();
    const [first] = loads;
    owners.drop(keyOf("ana"));
    expect(first!.signal.aborted).toBe(true);
    // Not before the first has ended, which does not heed its signal.
    await missTwice(keyOf("ana"));
    expect(loads).toEqual([first]);
    first!.finish(new Copy(keyOf("ana"), 1_000));
    await settle();
    expect(owners.get(keyOf("ana"))).toBeNull();
    expect(copies.map(({ released }) => released)).toEqual([1, 1]);
    expect(loads).toHaveLength(1);
    loads[0]!.finish(new Copy(keyOf("ana"), 1_000));
    await settle();
    expect(owners.get(keyOf("ana"))).toBe(copies[2]);
    expect(owners.status().letGo).toMatchObject({ dropped: 2 });
  });

  it("that was pushed out is not taken in again at once: else many active ones would push each other out for ever", async () => {
    const { owners, loads, copies, missTwice } = policy({ mostBytes: 48_000 });
    const all = Array.from({ length: 1_000 }, (_, index) => keyOf(index));
    let loaded = 0;
    for (let round = 0; round < 12; round++) {
      for (const key of all) {
        if (owners.get(key) === null) await missTwice(key);
        while (loads.length > 0) {
          loaded++;
          loads[0]!.finish(new Copy(loads[0]!.key, 4_000));
          await settle();
          expect(owners.status().bytes).toBeLessThanOrEqual(48_000);
        }
      }
      await pass(30_000);
    }
    // Six minutes: each was taken in once, and the latest are still there.
    expect(loaded).toBe(1_000);
    expect(owners.status()).toMatchObject({ owners: 10, letGo: { full: 990, idle: 0 } });
    expect(copies.filter(({ released }) => released === 0)).toHaveLength(10);
  });
});

describe("taking in", () => {
  it("two at a time, in turn, and nobody who has waited too long", async () => {
    const { owners, loads, missTwice } = policy();
    for (const name of ["a", "b", "c", "d"]) await missTwice(keyOf(name));
    const under = () => loads.map(({ key }) => key);
    expect(under()).toEqual([keyOf("a"), keyOf("b")]);
    expect(owners.status().loading).toBe(4);
    await pass(9 * minute);
    loads[0]!.finish(null);
    await settle();
    expect(under()).toEqual([keyOf("b"), keyOf("c")]);
    await pass(2 * minute);
    loads[0]!.finish(null);
    await settle();
    expect(under()).toEqual([keyOf("c")]);
    expect(owners.status().loading).toBe(1);
  });

  it("a thousand at most wait, the latest", async () => {
    const { owners, loads } = policy();
    for (let user = 0; user < 3_000; user++) owners.missed(keyOf(user), keyOf(user));
    for (let user = 0; user < 3_000; user++) owners.missed(keyOf(user));
    expect(owners.status().loading).toBe(1_002);
    await settle();
    loads[0]!.finish(null);
    await settle();
    expect(loads.map(({ key }) => key)).toEqual([keyOf(1), keyOf(2_000)]);
  });

  it("is waited for by idle, and ended by close, which waits for nothing that does not end", async () => {
    const { owners, loads, copies, hold, missTwice } = policy();
    const ana = await hold(keyOf("ana"));
    for (const name of ["b", "c", "d"]) await missTwice(keyOf(name));
    let idle = false;
    const idling = owners.idle().then(() => {
      idle = true;
    });
    loads[0]!.finish(new Copy(keyOf("b"), 1_000));
    await settle();
    expect([idle, loads.length]).toEqual([false, 2]);
    let closed = false;
    const closing = owners.close().then(() => {
      closed = true;
    });
    await settle();
    expect(loads.every(({ signal }) => signal.aborted)).toBe(true);
    expect([ana.released, copies[1]!.released, closed]).toEqual([1, 1, false]);
    await pass(1_000);
    await closing;
    loads[0]!.finish(new Copy(keyOf("c"), 1_000));
    loads[0]!.fail(new Error("closed"));
    await idling;
    expect(copies.map(({ released }) => released)).toEqual([1, 1, 1]);
    await missTwice(keyOf("e"));
    expect(owners.status()).toMatchObject({ owners: 0, bytes: 0, loading: 0, letGo: { failed: 0 } });
    expect(vi.getTimerCount()).toBe(0);
    await owners.close();
  });

  it("is done for nobody where nothing is to be held", async () => {
    const { owners, loads, missTwice } = policy({ enabled: false });
    await missTwice(keyOf("ana"));
    expect(loads).toEqual([]);
    expect(owners.status()).toMatchObject({ enabled: false, loading: 0, served: { statement: 2 } });
  });

  it("goes on after a load that throws before it has begun", async () => {
    const errors: unknown[] = [];
    const owners = createHeldOwners<Copy>({
      options: { enabled: true, withinMs: minute, idleMs: minute, mostBytes: 1_000 },
      load: () => {
        throw new Error("no");
      },
      nowMs: () => Date.now(),
      report: (error) => void errors.push(error),
    });
    for (const name of ["a", "a", "b", "b", "c", "c"]) owners.missed(keyOf(name));
    await owners.idle();
    expect([errors.length, owners.status().loading]).toEqual([3, 0]);
  });
});
