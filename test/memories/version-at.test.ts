import { describe, expect, it } from "vitest";
import { versionAt } from "../../src/memories/edit/revert-memory.js";

const added = { text: "a", category: "goals", value: "1", importance: 3, tags: ["x"] };

const trail: Parameters<typeof versionAt>[0] = [
  { id: 1, event: "ADD", old: null, new: added },
  { id: 2, event: "LINK", old: null, new: { links: [] } },
  { id: 3, event: "MERGE", old: { text: "a" }, new: { text: "said again", seenCount: 2 } },
  { id: 4, event: "UPDATE", old: null, new: { refused: "no", confidence: 0.1 } },
  {
    id: 5,
    event: "UPDATE",
    old: { text: "a", value: "1", confidence: 0.5 },
    new: { text: "b", value: null },
  },
  { id: 6, event: "DELETE", old: { text: "b" }, new: { state: "soft_deleted" } },
  { id: 7, event: "RESTORE", old: { state: "soft_deleted" }, new: { text: "b", pinned: true } },
];

describe("versions of a memory", () => {
  it.each([
    [1, added],
    [4, added],
    [6, { ...added, text: "b", value: null, confidence: 0.5 }],
    [7, { ...added, text: "b", value: null, confidence: 0.5, pinned: true }],
  ])("The version of a memory after entry %i has all fields written until then", (id, version) =>
    expect(versionAt(trail.toReversed(), id)).toEqual(version),
  );

  it("The version of a memory is null for an entry outside its trail, and has no unknown fields", () => {
    expect(versionAt(trail, 99)).toBeNull();
    expect(
      versionAt([{ id: 1, event: "UPDATE", old: { importance: "high" }, new: "?" }], 1),
    ).toEqual({});
  });
});
