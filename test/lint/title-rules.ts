import { readFileSync } from "node:fs";
import ts from "typescript";

/** The title of a test, or the name of a group of tests. */
export interface Title {
  readonly of: "test" | "group";
  readonly line: number;
  /** Expressions in it are given as `%s`. */
  readonly text: string;
}

/** A word or two, and numbers such as 3 or M1, before a colon. */
const label = /^(?:[\p{L}.-]+ ?){0,2}(?:[A-Z]?\d+(?:, )?)*:\s/u;
const capitalOrDigit = /^[\p{Lu}\d]/u;
const placeholder = /^[%$]\.?\w/;
/** Code in backticks, a path, `modelView`, `threads.delete` or `close()`; a plain word is none. */
const nameInCode = /^(?:`|\/\w|[\w-]*(?:[a-z][A-Z]|\w[._/(][\w%)]))/;
const word = /[\p{L}\p{N}]/u;

/** What is wrong with a title that is read alone in a list of failures. */
export function problemOf({ of, text }: Pick<Title, "of" | "text">): string | null {
  if (label.test(text)) return "begins with a label";
  if (of === "group") return null;
  if (![capitalOrDigit, placeholder, nameInCode].some((start) => start.test(text)))
    return "begins with neither a capital, a digit nor a name in code";
  const words = text.split(/\s+/).filter((each) => word.test(each));
  return words.length < 3 ? "has fewer than three words" : null;
}

/** The titles that a file writes as literals. */
export function titlesIn(path: string): Title[] {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const titles: Title[] = [];
  const visit = (node: ts.Node): void => {
    const title = ts.isCallExpression(node) ? titleOf(node) : null;
    if (title) titles.push(title);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

function titleOf(call: ts.CallExpression): Title | null {
  const of = kindOf(call.expression);
  const [first, body] = call.arguments;
  const text = first && body && textOf(first);
  if (of === null || typeof text !== "string") return null;
  const { line } = call.getSourceFile().getLineAndCharacterOfPosition(first?.getStart() ?? 0);
  return { of, line: line + 1, text };
}

/** Of `it`, `it.each(table)`, `describe.skipIf(condition)` and the like. */
function kindOf(callee: ts.Expression): Title["of"] | null {
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee))
    return kindOf(callee.expression);
  if (!ts.isIdentifier(callee)) return null;
  if (callee.text === "describe") return "group";
  return callee.text === "it" || callee.text === "test" ? "test" : null;
}

function textOf(title: ts.Expression): string | null {
  if (ts.isStringLiteralLike(title)) return title.text;
  if (!ts.isTemplateExpression(title)) return null;
  return title.head.text + title.templateSpans.map(({ literal }) => `%s${literal.text}`).join("");
}
