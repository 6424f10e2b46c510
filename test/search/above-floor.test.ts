import { describe, expect, it } from "vitest";
import { aboveFloor } from "../../src/search/rank-memories.rule.js";
import { defaultFloor } from "../../src/search/retrieval-options.js";

describe("aboveFloor", () => {
  it("by default leaves nothing when even the best is hardly alike, else nearly all", () => {
    const { best, each } = defaultFloor;
    expect(aboveFloor([{ similarity: best - 0.01 }, { similarity: each }], undefined)).toEqual([]);
    const some = [{ similarity: each }, { similarity: best }, { similarity: each - 0.01 }];
    expect(aboveFloor(some, undefined)).toEqual(some.slice(0, 2));
    expect(aboveFloor([], undefined)).toEqual([]);
    expect(aboveFloor([{ similarity: 0 }], 0)).toEqual([{ similarity: 0 }]);
  });

  it("goes by evidence where that is less than similarity, but for a threshold", () => {
    const all = [{ similarity: 0.7, evidence: 0 }];
    expect(aboveFloor(all, undefined)).toEqual([]);
    expect(aboveFloor(all, 0.6)).toEqual(all);
    expect(aboveFloor([{ similarity: 0.7, evidence: 0.1 }, ...all], undefined)).toHaveLength(1);
  });
});
