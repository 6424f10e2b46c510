import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const source = new URL("../../src/", import.meta.url);

/** What a memory is made of, and the record of its changes. */
const tables = "memory|memory_embedding|memory_term|memory_source|relation|history|change_log";
const writes = new RegExp(
  String.raw`(?:insert into|update|delete from) \$\{[a-z.]*schema\}\.(?:${tables})\b`,
);

/** Why these write to such tables without being changes of a memory. */
const others: Readonly<Record<string, string>> = {
  "conversation/append-messages.ts": "counts use",
  "events/event-log.ts": "counts use",
  "edits/purge-resting.ts": "erases a removed message's words",
  "forgetting/erase-app-memories.ts": "erases",
  "forgetting/erase-notes.ts": "erases",
  "forgetting/erase-statements.ts": "erases",
  "lifecycle/lifecycle-work.ts": "deletes old lines of the change log",
  "memories/item/index-rows.ts": "part of a statement, here and of an import",
  "memories/item/source-rows.ts": "part of a statement, here and of an import",
  "models/reembed.ts": "vectors of a text that stays",
};

describe("memory rows", () => {
  it("Rows of memories are written behind one door alone", () => {
    const files = readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.startsWith("memories/apply/"))
      .filter((path) => writes.test(readFileSync(new URL(path, source), "utf8")));
    expect(files.toSorted()).toEqual(Object.keys(others).toSorted());
  });
});
