import { expect, it } from "vitest";
import { createLanes } from "../../src/work/lanes.js";

it("A job that is found while the last lane ends gets a lane", async () => {
  const done: number[] = [];
  const lanes = createLanes({
    max: 1,
    limit: 20,
    freshMs: 1_000,
    look: async () => [],
    async run(refs) {
      done.push(refs.shift() ?? 0);
    },
    async open(lane) {
      await lane();
      if (done.length === 1) lanes.follow([2], performance.now());
    },
  });
  lanes.follow([1], performance.now());
  await expect.poll(() => done).toEqual([1, 2]);
});
