import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { notRunOnCitus } from "./citus-statements.js";
import { citusSuites, notOnCitus } from "./citus-suites.js";
import listed from "./listed-statements.json" with { type: "json" };
import { brokenRules } from "./statement-rules.js";

/** A statement that is known to break a rule, by a part of its text that no other has. */
interface Listed {
  readonly rule: string;
  readonly statement: string;
  readonly reason: string;
}

/**
 * What is wrong with the statements that a run's test files left in `folder`: each that breaks a
 * rule and is not listed.
 *
 * @param isWhole whether all test files ran: then what is listed and does not occur any more is
 * wrong as well.
 */
export function statementProblems(folder: string, isWhole: boolean): string[] {
  const files = readdirSync(folder).map((name) =>
    readFileSync(join(folder, name), "utf8").split("\n"),
  );
  const known: readonly Listed[] = [...listed.exceptions, ...listed.falseAlarms];
  const matched = new Set<Listed>();
  const broken = [...new Set(files.flat())].flatMap((statement) =>
    brokenRules(statement).flatMap((rule) => {
      const found = known.filter(
        (each) => each.rule === rule && statement.includes(each.statement),
      );
      for (const each of found) matched.add(each);
      return found.length > 0
        ? []
        : [`test/lint/statement-rules.ts: ${rule} is broken by ${statement}`];
    }),
  );
  const gone = isWhole ? known.filter((each) => !matched.has(each)) : [];
  return [
    ...broken,
    ...notRunOnCitus(citusStatements(folder)),
    ...gone.map(
      ({ rule, statement }) => `listed-statements.json: nothing breaks ${rule} by ${statement}`,
    ),
  ];
}

/** Those of the suites that run on Citus too. */
export function citusStatements(folder: string): Set<string> {
  const starts = ["citus", ...citusSuites].map((suite) => `${suite.replaceAll("/", "~")}~`);
  const others = notOnCitus.map((pattern) => pattern.replace(/^[*/]+/, ""));
  const names = readdirSync(folder).filter(
    (name) =>
      starts.some((start) => name.startsWith(start)) &&
      !others.some((other) => name.includes(other)),
  );
  return new Set(names.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n")));
}
