import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import ts from "typescript";
import { createProgram } from "../packages/server/src/cli/program.js";
import { operations } from "../packages/server/src/operations/operations.js";
import { configSchema } from "../src/config.js";
import { createMemory } from "../src/create-memory.js";
import { memoryOptionsSchema } from "../src/create-memory-options.js";
import statements from "../test/lint/listed-statements.json" with { type: "json" };
import ceilings from "./house-ceilings.json" with { type: "json" };
import { walks } from "./walk.js";

// Prints how large the project is, and fails where it is larger than scripts/house-ceilings.json
// allows.
//   npm run house [-- --json]    --json: one line for programs

/**
 * Folders that everybody uses: an import of theirs says nothing about how a capability hangs
 * together.
 */
const foundations: ReadonlySet<string> = new Set([
  "text",
  "postgres",
  "scope",
  "models",
  "events",
  "jobs",
  "conversation",
]);

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly source: ts.SourceFile;
}

process.chdir(join(import.meta.dirname, ".."));

function pathsIn(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => ending.test(path) && !path.includes("node_modules"))
    .map((path) => join(folder, path));
}

const lineCount = (text: string): number => text.split("\n").length - 1;

function sourcesIn(folder: string): SourceFile[] {
  return pathsIn(folder, /\.tsx?$/).map((path) => {
    const text = readFileSync(path, "utf8");
    return { path, text, source: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
  });
}

const core = sourcesIn("src");
const packages = [...sourcesIn("packages/server/src"), ...sourcesIn("packages/ai-sdk/src")];
const files = [...core, ...packages];
const tests = sourcesIn("test");
const inspector = sourcesIn("packages/server/inspector");
const bench = sourcesIn("bench");
const examples = sourcesIn("examples");

function nodesOf(root: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return nodes;
}

const countNodes = (sources: readonly SourceFile[]): number =>
  sources.reduce((sum, { source }) => sum + nodesOf(source).length, 0);

function linesOf(node: ts.Node): number {
  const source = node.getSourceFile();
  const [from, to] = [node.getStart(), node.end].map(
    (at) => source.getLineAndCharacterOfPosition(at).line,
  );
  return (to ?? 0) - (from ?? 0) + 1;
}

/** Characters of a text in which spaces and line ends in a row are one. */
const characters = (text: string): number => text.replace(/\s+/g, " ").length;

/** Characters of SQL in templates, without what is filled in: that is SQL of its own or a value. */
function sqlCharactersOf(source: ts.SourceFile): number {
  const texts = nodesOf(source).flatMap((node) => {
    if (!ts.isTaggedTemplateExpression(node) || node.tag.getText() !== "sql") return [];
    const { template } = node;
    if (ts.isNoSubstitutionTemplateLiteral(template)) return [template.text];
    return [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)];
  });
  return texts.reduce((sum, text) => sum + characters(text), 0);
}

/** The same of a folder's files, where the whole text is SQL. */
const sqlCharactersIn = (folder: string): number =>
  pathsIn(folder, /\.sql$/).reduce((sum, path) => sum + characters(readFileSync(path, "utf8")), 0);

type Schema = { readonly _zod: { readonly def: object } };

/**
 * Settings that a schema has: what is no group of others. The categories are one, whichever of
 * their two lists they are in.
 */
function leaves(schema: Schema): number {
  if (schema === configSchema.shape.categories) return 1;
  const def = schema._zod.def as Record<string, unknown>;
  if (def.type === "object") {
    return Object.values(def.shape as Record<string, Schema>).reduce(
      (sum, each) => sum + leaves(each),
      0,
    );
  }
  if (def.type === "pipe") return leaves(def.in as Schema);
  if (def.type === "record") return leaves(def.valueType as Schema);
  if (def.type === "union") return Math.max(...(def.options as Schema[]).map(leaves));
  return def.innerType ? leaves(def.innerType as Schema) : 1;
}

/** Functions of a memory, with those of its parts. */
function calls(of: object): number {
  return Object.values(of).reduce((sum: number, value: unknown) => {
    if (typeof value === "function") return sum + 1;
    return typeof value === "object" && value !== null ? sum + calls(value) : sum;
  }, 0);
}

function sourceAt(path: string): ts.SourceFile {
  const file = files.find((each) => each.path === join("src", path));
  if (!file) throw new Error(`There is no src/${path}.`);
  return file.source;
}

function errorCodes(): number {
  const codes = nodesOf(sourceAt("errors.ts")).find(
    (node) => ts.isTypeAliasDeclaration(node) && node.name.text === "MemoryErrorCode",
  ) as ts.TypeAliasDeclaration;
  return (codes.type as ts.UnionTypeNode).types.length;
}

/** Tables that the migrations leave behind, as their files are run in order. */
function tables(): number {
  const left = new Set<string>();
  const change = /(create table|drop table)(?: if (?:not )?exists)? (?:\w+\.)?"?(\w+)/gi;
  for (const path of pathsIn("migrations", /\.sql$/).sort()) {
    for (const [, what, name = ""] of readFileSync(path, "utf8").matchAll(change)) {
      if (what?.toLowerCase() === "create table") left.add(name);
      else left.delete(name);
    }
  }
  return left.size;
}

/** Code: neither the stand-in models nor what is data (the words that screening knows, in JSON). */
const code = files.filter(({ path }) => !path.startsWith(join("src", "testing")));

const plainWord = /^[\p{Ll}\p{Lo}\p{M}]+$/u;
const plainWordsOf = (texts: readonly string[]) => texts.filter((text) => plainWord.test(text));
const splitsText = /\.(?:split|match|matchAll)\(/;

/** Functions that make a list of a text: their arguments may be tables. */
const splitters: ReadonlySet<string> = new Set(
  code.flatMap(({ source }) =>
    nodesOf(source).flatMap((node) =>
      ts.isFunctionDeclaration(node) && node.name && splitsText.test(node.getText())
        ? [node.name.text]
        : [],
    ),
  ),
);

/**
 * The type that a list is given where it is declared, or makes itself by `as const`: "string"
 * without one.
 */
function declaredType(node: ts.Node): string {
  for (let at = node.parent; at && !ts.isBlock(at); at = at.parent) {
    if (ts.isAsExpression(at) || ts.isSatisfiesExpression(at)) return at.type.getText();
    if (ts.isVariableDeclaration(at)) return at.type?.getText() ?? "string";
    if (ts.isCallExpression(at) && at.expression.getText() === "z.enum") return "enum";
  }
  return "string";
}

/** A text, or all that is joined by "+" from here on; "" within such. */
function wholeText(node: ts.Node): string {
  if (ts.isBinaryExpression(node)) return `${wholeText(node.left)} ${wholeText(node.right)}`;
  return ts.isStringLiteralLike(node) ? node.text : "";
}

/** Whether the text is split here, or given to what splits it. */
function isSplit(node: ts.Node): boolean {
  let at = node.parent;
  while (ts.isSpreadElement(at) || ts.isParenthesizedExpression(at)) at = at.parent;
  if (ts.isPropertyAccessExpression(at)) return splitsText.test(`.${at.name.text}(`);
  if (ts.isCallExpression(at)) return splitters.has(at.expression.getText());
  if (!ts.isVariableDeclaration(at)) return false;
  const name = at.name.getText();
  const uses = nodesOf(node.getSourceFile()).filter(
    (use) => ts.isIdentifier(use) && use.text === name,
  );
  return uses.some((use) => use.parent !== at && isSplit(use));
}

function isWordList(node: ts.Node): boolean {
  if (ts.isArrayLiteralExpression(node)) {
    const texts = node.elements.filter(ts.isStringLiteralLike).map(({ text }) => text);
    // What is typed by names (`as const`, a union, a table's columns) is no list of words.
    return plainWordsOf(texts).length >= 6 && /\bstring\b/.test(declaredType(node));
  }
  if (ts.isObjectLiteralExpression(node)) {
    const keys = node.properties
      .filter(ts.isPropertyAssignment)
      .map(({ name }) => name.getText().replace(/["']/g, ""));
    const { parent } = node;
    const isMap = ts.isVariableDeclaration(parent)
      ? /Record<string/.test(parent.type?.getText() ?? "")
      : /^Object\.(?:entries|keys)\(/.test(parent.getText());
    return isMap && plainWordsOf(keys).length >= 6;
  }
  const isText = ts.isStringLiteralLike(node) || ts.isBinaryExpression(node);
  if (!isText || ts.isBinaryExpression(node.parent)) return false;
  const text = wholeText(node);
  const isSentence = /[.,;:!?](?:\s|$)/.test(text);
  return !isSentence && plainWordsOf(text.split(/[\s|/]+/)).length >= 10 && isSplit(node);
}

/**
 * Places of lists of words. No list of a language's words belongs in code; names that a format
 * fixes are few.
 */
const wordLists = code.flatMap(({ path, source }) =>
  nodesOf(source)
    .filter(isWordList)
    .map((node) => `${path}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`),
);

const srcLines = files.reduce((sum, { text }) => sum + lineCount(text), 0);
const commentLines = files.reduce(
  (sum, { text }) => sum + (text.match(/^\s*(?:\/\/|\/?\*)/gm)?.length ?? 0),
  0,
);
const srcSqlCharacters = files.reduce((sum, { source }) => sum + sqlCharactersOf(source), 0);
const everyFile = [...files, ...tests, ...inspector, ...bench, ...examples];
const functions = functionsOf(files);

const measured = {
  srcNodes: countNodes(files),
  coreNodes: countNodes(core),
  packageNodes: countNodes(packages),
  testNodes: countNodes(tests),
  inspectorNodes: countNodes(inspector),
  benchNodes: countNodes(bench),
  exampleNodes: countNodes(examples),
  sqlCharacters: srcSqlCharacters + sqlCharactersIn("migrations"),
  longestFile: Math.max(...everyFile.map(({ text }) => lineCount(text))),
  longestFunction: Math.max(...functions.map(({ lines }) => lines)),
  nonAsciiCharacters: code.reduce(
    (sum, { text }) => sum + (text.match(/[^\0-\x7F]/gu)?.length ?? 0),
    0,
  ),
  wordLists: wordLists.length,
  settings: leaves(configSchema) + Object.keys(memoryOptionsSchema.shape).length,
  calls: calls(createMemory({ database: "postgresql://nobody@127.0.0.1:1/nothing" })),
  exports: nodesOf(sourceAt("index.ts")).filter(ts.isExportSpecifier).length,
  routes: Object.keys(operations).length,
  commands: createProgram().commands.length,
  errorCodes: errorCodes(),
  tables: tables(),
  citusExceptions: statements.exceptions.length,
  citusFalseAlarms: statements.falseAlarms.length,
  srcLines,
  srcCharacters: files.reduce((sum, { text }) => sum + text.length, 0),
  commentPercent: Math.round((1_000 * commentLines) / srcLines) / 10,
  testLines: tests.reduce((sum, { text }) => sum + lineCount(text), 0),
};

const ceilingOf = (name: string): number =>
  (ceilings as Readonly<Record<string, number>>)[name] ?? Number.POSITIVE_INFINITY;
const over = Object.entries(measured).filter(([name, count]) => count > ceilingOf(name));

if (process.argv.includes("--json")) {
  console.log(JSON.stringify(measured));
} else {
  for (const [name, count] of Object.entries(measured)) {
    const bound = Number.isFinite(ceilingOf(name)) ? `at most ${ceilingOf(name)}` : "";
    console.log(`${name.padEnd(20)}${String(count).padStart(9)}   ${bound}`.trimEnd());
  }
  printFolders();
  printShape();
  printWalks();
}
for (const [name, count] of over) {
  console.error(`${name}: ${count} is over its ceiling of ${ceilingOf(name)}.`);
}
process.exitCode = over.length > 0 ? 1 : 0;

function functionsOf(sources: readonly SourceFile[]) {
  return sources.flatMap(({ path, source }) =>
    nodesOf(source).flatMap((node) => {
      if (!ts.isFunctionLike(node) || !("body" in node) || !node.body) return [];
      return [{ path, lines: linesOf(node), name: node.name?.getText() ?? "(anonymous)" }];
    }),
  );
}

/** Nodes and SQL of each folder of `src`, largest first. */
function printFolders(): void {
  const folderOf = ({ path }: SourceFile) => path.split("/").slice(1, -1)[0] ?? "(its root)";
  const rows = [...new Set(files.map(folderOf))].map((folder) => {
    const inside = files.filter((file) => folderOf(file) === folder);
    const sql = inside.reduce((sum, { source }) => sum + sqlCharactersOf(source), 0);
    return { folder, nodes: countNodes(inside), sql };
  });
  console.log("\nfolder                  nodes   characters of SQL");
  for (const { folder, nodes, sql } of rows.sort((a, b) => b.nodes - a.nodes))
    console.log(`${folder.padEnd(20)}${String(nodes).padStart(9)}${String(sql).padStart(20)}`);
  console.log(`migrations${" ".repeat(19)}${String(sqlCharactersIn("migrations")).padStart(20)}`);
}

/** How the files of `src` hang together. */
function printShape(): void {
  const lengths = files.map(({ text }) => lineCount(text)).sort((a, b) => a - b);
  const folderOf = (path: string) => path.split("/").slice(1, -1)[0];
  const links = files.flatMap(({ path, source }) =>
    source.statements.flatMap((statement) => {
      const isLink = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
      const specifier = isLink ? statement.moduleSpecifier : undefined;
      if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith("."))
        return [];
      return [[folderOf(path), folderOf(normalize(join(dirname(path), specifier.text)))] as const];
    }),
  );
  const between = links.filter((ends) =>
    ends.every((each) => each !== undefined && !foundations.has(each)),
  );
  const staying = between.filter(([from, to]) => from === to);
  console.log(`\nfiles           ${files.length}, median ${lengths[lengths.length >> 1]} lines`);
  console.log(`imports         ${staying.length} of ${between.length} stay in their folder`);
  console.log(`word lists      ${wordLists.join(" ")}`);
  console.log(`same names      ${sameNames().length} of the top level stand in more than one file`);
  console.log("longest files");
  const byLength = everyFile.sort((a, b) => lineCount(b.text) - lineCount(a.text));
  for (const { text, path } of byLength.slice(0, 5))
    console.log(`  ${lineCount(text)} lines  ${path}`);
  console.log("longest functions");
  for (const { lines, name, path } of functions.sort((a, b) => b.lines - a.lines).slice(0, 5))
    console.log(`  ${lines} lines  ${name}  ${relative("src", path)}`);
}

/** Names of functions, constants, classes and types that more than one file of `src` declares. */
function sameNames(): string[] {
  const names = files.flatMap(({ source }) => [...new Set(source.statements.flatMap(namesOf))]);
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    const declared = statement.declarationList.declarations.map(({ name }) => name);
    return declared.filter(ts.isIdentifier).map(({ text }) => text);
  }
  // An overload declares its function again.
  const isNamed = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
  const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
  return (isNamed || isType) && statement.name ? [statement.name.text] : [];
}

/** How far a reader of each story walks. */
function printWalks(): void {
  console.log("\nrooms  functions  lines   of the story of");
  for (const { story, rooms, functions, lines } of walks()) {
    const counts = [String(rooms).padStart(5), String(functions).padStart(9)];
    console.log(`${counts.join("  ")}  ${String(lines).padStart(5)}   ${story}`);
  }
}
