import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { citusSuites } from "./citus-suites.js";

// The statements that write or lock, and ran on Citus. A coordinator plans these in many ways, by their form; a query goes as it is
// to the worker that has its schema.

const list = join(import.meta.dirname, "citus-statements.txt");

const head = (version: string) => `\
# What ran on Citus ${version}: statements that insert, update, delete or lock, sent by the tests of
#   ${citusSuites.join(", ")}.
# A line is a digest of the statement's form and its first words. The form is its clauses, tables, functions and queries within
# queries; columns, operators and values may change.
# \`CITUS_SOURCE=DIR npm run test:citus\` writes this file when it is green; \`npm run test:citus -- FILE\` adds to it what that file
# sends. \`npm test\` fails when those suites send a form that is not in it.
# Rightly not in it, since they are not sent through \`Database.query\`, or run where there is no Citus: migrations and functions
# (they run in each test's setup there), policies of row-level security, pg-boss's own statements, and what doctor reads.
`;

/** What is to be done about normal statements of those suites that write in a form that is not listed. */
export function notRunOnCitus(
  statements: Iterable<string>,
  listed: string = readFileSync(list, "utf8"),
): string[] {
  const known = new Set(listed.split("\n").map((line) => line.split(" ")[0]));
  return [...statements]
    .filter((text) => isWriting(text) && !known.has(digestOf(text)))
    .map(
      (text) =>
        "test/lint/citus-statements.txt: never ran on Citus. Run `CITUS_SOURCE=DIR npm run test:citus -- FILE` with a checkout of " +
        `Citus (docs/scaling.md) and a test that sends it, which adds it: ${text.slice(0, 400)}`,
    );
}

/**
 * Writes the list. @param statements what those suites sent to Citus.
 * @param isWhole whether all of them ran: else what is in the list stays.
 */
export function writeCitusStatements(
  statements: Iterable<string>,
  { version, isWhole }: { readonly version: string; readonly isWhole: boolean },
): void {
  const lines = new Map<string, string>();
  const kept = isWhole ? [] : readFileSync(list, "utf8").split("\n");
  for (const line of kept) if (/^[0-9a-f]{10} /.test(line)) lines.set(line.slice(0, 10), line);
  for (const text of [...statements].filter(isWriting).sort()) {
    const digest = digestOf(text);
    if (!lines.has(digest)) lines.set(digest, `${digest} ${text.slice(0, 80).trim()}`);
  }
  const byWords = [...lines.values()].sort((a, b) => (a.slice(11) < b.slice(11) ? -1 : 1));
  writeFileSync(list, `${head(version)}\n${byWords.join("\n")}\n`);
}

const isWriting = (text: string): boolean =>
  /\b(?:insert into|update|delete from) @s\.|\bfor (?:no key )?(?:update|share)\b/.test(text);

const digestOf = (text: string): string =>
  createHash("sha256").update(statementForm(text)).digest("hex").slice(0, 10);

/** What Citus plans a normal statement by. What is there several times in a row is there once. */
export function statementForm(text: string): string {
  const open: string[][] = [[]];
  for (const part of text.replace(/'[^']*'/g, "").match(formParts) ?? []) {
    const last = open.at(-1) as string[];
    if (part === "(") open.push([]);
    else if (part !== ")") addOnce(last, part);
    else if (open.length > 1) {
      open.pop();
      if (last.length > 0) addOnce(open.at(-1) as string[], `(${last.join(" ")})`);
    }
  }
  return (open[0] as string[]).join(" ");
}

/** Tables and functions, parentheses, and the words that begin clauses. A test may set the time, so now() is none. */
const formParts =
  /@s\.\w+|[()]|\b(?:with|recursive|materialized|select|distinct|from|left|cross|join|lateral|where|group by|having|order by|limit|offset|union|except|insert into|values|on conflict|do nothing|do update|update|delete from|using|set|returning|for (?:no key )?update|for (?:key )?share|skip locked|exists|case|over|filter|interval)\b|\b(?!now\()[a-z_]\w*(?=\()/g;

function addOnce(parts: string[], part: string): void {
  if (!parts.slice(-4).includes(part)) parts.push(part);
}
