import fc from "fast-check";
import { expect, it } from "vitest";
import type { MemoryItem } from "../../src/memories/item/memory.js";
import { readDecision } from "../../src/notes/compaction-decision.rule.js";
import { noteText } from "../../src/notes/note-text.rule.js";
import { forAll } from "../support/for-all.js";

const note = (index: number, pinned: boolean) =>
  ({
    id: `${index}`,
    text: `Note ${index}.`,
    pinned,
    kind: "note",
    tags: [],
    trust: "agent",
  }) as unknown as MemoryItem;

const notes = fc
  .array(fc.boolean(), { minLength: 1, maxLength: 20 })
  .map((pins) => pins.map((pinned, index) => note(index, pinned)));
const anyNumber = fc.oneof(fc.integer({ min: -2, max: 25 }), fc.double());

const said = fc.record({
  action: fc.constantFrom("delete" as const, "edit" as const),
  target: anyNumber,
  with: fc.option(anyNumber),
  text: fc.option(fc.oneof(fc.string(), fc.constant("Both are one."), fc.constant("Note 3."))),
  reason: fc.string({ maxLength: 1_000 }),
});

it("Every valid decision names distinct notes that are not pinned, with a reason and text within bounds", () =>
  forAll(notes, said, (all, decision) => {
    const read = readDecision(decision, all);
    if ("invalid" in read) return;
    const about = read.action === "edit" ? [read.target, read.merged] : [read.target];
    expect(new Set(about).size).toBe(about.length);
    for (const each of about) {
      expect(all).toContain(each);
      expect(each.pinned).toBe(false);
    }
    expect(read.reason.length).toBeLessThanOrEqual(300);
    if (read.action !== "edit") return;
    expect(read.text.length).toBeLessThanOrEqual(200);
    expect(all.filter((each) => !about.includes(each)).map(({ text }) => text)).not.toContain(
      read.text,
    );
  }));

it("A merge with a figure of neither note is invalid", () => {
  const all = ["Version 2 ships on 2026-03-05.", "Two customers asked for it."].map((text, at) => ({
    ...note(at, false),
    text,
  }));
  const merge = (text: string) =>
    readDecision({ action: "edit", target: 1, with: 2, text, reason: "One subject." }, all);
  expect(merge("Version 2 ships on 2026-03-05, as customers asked.")).toMatchObject({
    action: "edit",
  });
  expect(merge("Version 2 ships on 2026-05-03, as customers asked.")).toEqual({
    invalid: "the merged text says 2026-05-03, which neither note does",
  });
});

it("The text of a note is one line of at most 200 characters, or null", () =>
  forAll(fc.string({ unit: "binary", maxLength: 900 }), (text) => {
    const kept = noteText(text);
    if (kept === null) return;
    expect(kept.length).toBeLessThanOrEqual(200);
    expect(kept).not.toMatch(/[\r\n\t]/);
    expect(kept.trim()).toBe(kept);
  }));
