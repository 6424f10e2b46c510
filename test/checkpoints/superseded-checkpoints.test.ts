import { describe, expect, it } from "vitest";
import {
  type CheckpointRow,
  supersededCheckpoints,
} from "../../src/checkpoints/superseded-checkpoints.rule.js";

const idOf = (number: number) => `id-${String(number).padStart(4, "0")}`;
function node(number: number, fields: Partial<CheckpointRow> = {}): CheckpointRow {
  return {
    ns: "",
    id: idOf(number),
    parentId: number > 0 ? idOf(number - 1) : null,
    forked: false,
    recent: false,
    format: 4,
    replays: false,
    ...fields,
  };
}
const chain = (length: number, fields?: (number: number) => Partial<CheckpointRow>) =>
  Array.from({ length }, (_, number) => node(number, fields?.(number)));
const superseded = (nodes: CheckpointRow[], keepLast: number) =>
  supersededCheckpoints(nodes, keepLast).map(({ ns, id }) => `${ns}${id}`);
const ids = (from: number, to: number, ns = "") =>
  Array.from({ length: from - to + 1 }, (_, index) => `${ns}${idOf(from - index)}`);

describe("superseded checkpoints", () => {
  it("All checkpoints but the last and the recent ones are superseded", () => {
    expect(superseded(chain(10), 3)).toEqual(ids(6, 0));
    expect(superseded(chain(3), 3)).toEqual([]);
    expect(
      superseded(
        chain(10, (number) => ({ recent: number > 4 })),
        3,
      ),
    ).toEqual(ids(4, 0));
  });

  it("The sources of a replayed channel are kept, back to its snapshot", () => {
    const replaying = (stored: number) => chain(10, (number) => ({ replays: number !== stored }));
    expect(superseded(replaying(4), 2)).toEqual(ids(3, 0));
    expect(superseded(replaying(-1), 2)).toEqual([]);
  });

  it("The parent of a checkpoint of the old format is kept", () => {
    expect(
      superseded(
        chain(5, () => ({ format: 3 })),
        2,
      ),
    ).toEqual(ids(1, 0));
  });

  it("Checkpoints of subgraphs are superseded with their run, after the root graph's", () => {
    const outer = [0, 10, 20, 30].map((number) => node(number, { parentId: null }));
    const inner = [11, 21, 31].map((number) => node(number, { ns: `agent:${number}` }));
    const deep = [12, 22].map((number) => node(number, { ns: `agent:${number - 1}|tool:1` }));
    expect(superseded([...outer, ...inner, ...deep], 2)).toEqual([
      idOf(10),
      idOf(0),
      `agent:11|tool:1${idOf(12)}`,
      `agent:11${idOf(11)}`,
    ]);
  });

  it("Checkpoints of a stateful subgraph are superseded if no kept checkpoint resumes from them", () => {
    const outer = chain(4, (number) => ({
      id: idOf(number * 10),
      parentId: number ? idOf(number * 10 - 10) : null,
    }));
    const inner = [1, 2, 11, 12, 21, 22].map((number) =>
      node(number, { ns: "tally", parentId: null }),
    );
    // From 30 on: 22 is the last before it, and belongs to no kept run.
    expect(superseded([...outer, ...inner], 1)).toEqual([
      ...[20, 10, 0].map(idOf),
      ...[21, 12, 11, 2, 1].map((number) => `tally${idOf(number)}`),
    ]);
    expect(superseded([...outer, ...inner], 2)).toEqual([
      ...[10, 0].map(idOf),
      ...[11, 2, 1].map((number) => `tally${idOf(number)}`),
    ]);
  });

  it("A run under way is kept, and so is everything without a root graph", () => {
    const running = node(99, { ns: "agent:9" });
    expect(superseded([...chain(3), running], 1)).toEqual(ids(1, 0));
    expect(superseded([running], 1)).toEqual([]);
  });
});
