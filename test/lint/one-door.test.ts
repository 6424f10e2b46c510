import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const writes =
  /(?:insert into|update|delete from) \$\{[a-z.]*schema\}\.(?:memory|memory_embedding|memory_term|memory_source|relation|history|change_log)\b/;

/** What erases, counts use, embeds anew, or is part of a statement of the door and of imports. */
const others =
  /^(?:retention\/(?:forgetting\/|lifecycle\/trim-changes)|remember\/purge-resting|observability\/events\/event-log|transcript\/record-messages|models\/reembed|memories\/item\/index-rows)/;

it("Rows of memories are written behind one door alone", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (path) =>
      path.endsWith(".ts") &&
      !others.test(path) &&
      writes.test(readFileSync(join("src", path), "utf8")),
  );
  expect([...new Set(files.map(dirname))]).toEqual(["memories/apply"]);
});
