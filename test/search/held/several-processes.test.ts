import { describe, expect, inject, it } from "vitest";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { useChildScripts } from "../../support/child-scripts.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { limitsMs } from "../../support/timing.js";

const db = useTestDatabase();
const start = useChildScripts();

/** What a memory says from a change on; null: nothing. */
interface Change {
  readonly item: string;
  readonly text: string | null;
  readonly begunMs: number;
  readonly doneMs: number;
}

/** What a recall gave. */
interface Read {
  readonly begunMs: number;
  readonly doneMs: number;
  readonly texts: readonly string[];
}

const parsed = <Line>(lines: readonly string[]) =>
  lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Line);

/**
 * What is wrong with a read: every memory must say what it said last before the read began, or what was being made of
 * it meanwhile, and nothing else.
 */
function wrongTexts(read: Read, changesOf: ReadonlyMap<string, readonly Change[]>): string[] {
  const told = new Set(read.texts);
  const wrong = read.texts.length === told.size ? [] : ["something twice"];
  for (const changes of changesOf.values()) {
    const last = changes.findLastIndex(({ doneMs }) => doneMs < read.begunMs);
    const meanwhile = changes.slice(last + 1).filter(({ begunMs }) => begunMs < read.doneMs);
    const possible = [last < 0 ? null : (changes[last] as Change).text, ...meanwhile.map(({ text }) => text)];
    const says = [...new Set(changes.map(({ text }) => text))].filter(
      (text) => text !== null && told.has(text),
    );
    for (const text of says) told.delete(text as string);
    const fits =
      says.length === 0 ? possible.includes(null) : says.length === 1 && possible.includes(says[0] as string);
    if (!fits) wrong.push(`${JSON.stringify(says)} instead of one of ${JSON.stringify(possible)}`);
  }
  return [...wrong, ...told];
}

describe.skipIf(!onServer())("an owner that several processes hold while several write (server only)", () => {
  it(
    "is recalled as it was when the recall began: nothing missing, nothing that was removed",
    async () => {
      const userId = "busy";
      await db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
      const args = [inject("databaseUrl") ?? "", db.schema, userId];
      const writers = ["a", "b"].map((name) => start("held-writer", [...args, name]));
      for (const { line } of writers) await line(/"item"/);
      const recalls = 300;
      const readers = ["r", "s"].map((name) => start("held-reader", [...args, name, `${recalls}`]));
      for (const { line } of readers) await line("done");
      for (const { stop, line } of writers) {
        stop();
        await line("done");
      }

      const changesOf = new Map<string, Change[]>();
      for (const change of writers.flatMap(({ lines }) => parsed<Change>(lines)))
        changesOf.set(change.item, [...(changesOf.get(change.item) ?? []), change]);
      for (const { lines } of readers) {
        const reads = parsed<Read>(lines);
        expect(reads.map((read) => wrongTexts(read, changesOf)).filter((wrong) => wrong.length > 0)).toEqual(
          [],
        );
        const served = JSON.parse(lines.find((line) => line.startsWith("served "))?.slice(7) ?? "{}");
        expect(served.held).toBeGreaterThanOrEqual(recalls);
        // Something happened meanwhile.
        const [from, to] = [reads[0]?.doneMs ?? 0, reads.at(-1)?.begunMs ?? 0];
        const changes = [...changesOf.values()].flat();
        expect(changes.filter(({ doneMs }) => doneMs > from && doneMs < to).length).toBeGreaterThan(20);
        expect(new Set(reads.map(({ texts }) => texts.join())).size).toBeGreaterThan(20);
      }
    },
    limitsMs.long,
  );
});
