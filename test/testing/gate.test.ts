import { expect, test } from "vitest";
import { createGate } from "../../src/testing/index.js";

/** Enough for everything already settled to be noticed. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("A gate blocks until it is opened", async () => {
  const gate = createGate();
  const passed: string[] = [];
  const first = gate.wait().then(() => passed.push("first"));
  const second = gate.wait().then(() => passed.push("second"));
  await settle();
  expect(gate.waiting).toBe(2);
  expect(passed).toEqual([]);

  gate.open();
  await Promise.all([first, second]);
  expect(passed).toEqual(["first", "second"]);
  expect(gate.waiting).toBe(0);
});

test("A gate stays open until it is closed", async () => {
  const gate = createGate({ open: true });
  await gate.wait();
  await gate.wait();
  gate.close();
  void gate.wait();
  await settle();
  expect(gate.waiting).toBe(1);
});

test("An aborted wait rejects with the signal's reason and waits no more", async () => {
  const gate = createGate();
  const controller = new AbortController();
  const waiting = gate.wait(controller.signal);
  const reason = new Error("changed my mind");
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(gate.waiting).toBe(0);
});

test("A signal that has aborted before is noticed, whether the gate is open or not", async () => {
  const signal = AbortSignal.abort(new Error("too late"));
  await expect(createGate().wait(signal)).rejects.toThrow("too late");
  await expect(createGate({ open: true }).wait(signal)).rejects.toThrow("too late");
});
