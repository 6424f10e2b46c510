import { raw } from "sql-template-tag";
import { expect, it } from "vitest";
import { type Connection, identifier } from "../../src/postgres/connection.js";
import { composedRecall } from "../../src/rounds/recall-statement.js";
import { noFilter } from "../../src/search/memory-filter.rule.js";

const db: Connection = {
  schema: identifier("memory"),
  language: "english",
  now: () => raw("now()"),
  query: () => Promise.reject(new Error("runs nothing")),
};
const scope = { tenantId: "t", userId: "u", appId: "a" };
const space = {
  ...{ ref: 1, type: raw("public.halfvec"), product: raw("operator(public.<#>)") },
  indexed: raw("and public.vector_dims(e.embedding) <= 1300"),
};

/** `statement` a line each, indented by the parentheses that are open. */
function laidOut(statement: string): string {
  let depth = 0;
  const lines = statement.split("\n").map((line) => line.trim());
  const indented = lines
    .filter((line) => line !== "" && line !== ",")
    .map((line) => {
      const code = line.startsWith("--") ? "" : line.replace(/'[^']*'/g, "");
      const closing = /^\)*/.exec(code)?.[0].length ?? 0;
      const at = depth - closing;
      depth += code.split("(").length - code.split(")").length;
      return "  ".repeat(Math.max(0, at)) + line;
    });
  return `${indented.join("\n")}\n`;
}

/** After a change of the statement: `npx vitest run test/rounds/recall-sql.test.ts -u`, and read what has changed. */
it("recall.sql is the statement of a recall", async () => {
  const { shown } = composedRecall(db, {
    address: { scope, threadId: "thread" },
    limits: { recentMessages: 1, recentBytes: 1, gapMessages: 1, gapBytes: 1 },
    asked: {
      question: { terms: "", telling: "", words: [], correctable: [] },
      selection: {
        ...{ scope, kinds: [], categories: [], filter: noFilter, limit: 1 },
        vector: { space, value: "[]", from: 0 },
        times: { since: [], before: [] },
      },
    },
    known: {
      ...{ categories: [], lengths: [], shownWhole: [], minImportance: 1 },
      ...{ most: 1, rest: 1, statements: 1 },
    },
    ...{ notes: 1, changes: 1, consents: 1 },
  });
  const head = `-- The statement of a recall, with its values by name: of a user within an app, with embeddings. Made by
-- recall-sql.test.ts from what src/rounds/recall-statement.ts composes; nothing reads it but people.
`;
  await expect(head + laidOut(shown)).toMatchFileSnapshot("./recall.sql");
});
