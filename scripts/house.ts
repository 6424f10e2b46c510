import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import ts from "typescript";

/** Folders whose things everybody uses: an import of theirs says nothing of how a capability hangs together. */
const foundations: ReadonlySet<string> = new Set([
  "text",
  "postgres",
  "scope",
  "models",
  "events",
  "jobs",
  "conversation",
]);

/** Files up to this many lines are slivers: a sentence, and no chapter. */
const sliverLines = 30;

interface SourceFile {
  readonly path: string;
  readonly lines: number;
  /** Files of `src` that it imports, types included. */
  readonly imports: readonly string[];
  readonly functions: readonly { readonly name: string; readonly lines: number }[];
}

function readSource(path: string): SourceFile {
  const text = readFileSync(path, "utf8");
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const functions: { name: string; lines: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const [from, to] = [node.getStart(), node.end].map(
        (at) => source.getLineAndCharacterOfPosition(at).line,
      );
      functions.push({ name: nameOf(node), lines: (to ?? 0) - (from ?? 0) + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const imports = source.statements.flatMap((statement) => {
    const isLink = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    const specifier = isLink ? statement.moduleSpecifier : undefined;
    if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith(".")) return [];
    return normalize(join(dirname(path), specifier.text)).replace(/\.js$/, ".ts");
  });
  return { path, lines: text.split("\n").length - 1, imports, functions };
}

function nameOf(node: ts.Node): string {
  if ("name" in node && node.name) return (node.name as ts.Node).getText();
  return ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : "(anonymous)";
}

/** The folder of `src` that a file is in; null for those at its top, which put the parts together. */
function folderOf(path: string): string | null {
  const [, folder, ...rest] = path.split("/");
  return rest.length > 0 && folder !== undefined ? folder : null;
}

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / Math.max(1, whole))} %`;
}

process.chdir(join(import.meta.dirname, ".."));
const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readSource(join("src", path)));
const lines = files.map((file) => file.lines).sort((a, b) => a - b);
const slivers = files.filter((file) => file.lines <= sliverLines);
const longest = files
  .flatMap(({ path, functions }) => functions.map((each) => ({ path, ...each })))
  .sort((a, b) => b.lines - a.lines)
  .slice(0, 5);
const links = files
  .flatMap(({ path, imports }) => imports.map((to) => [folderOf(path), folderOf(to)] as const))
  .filter((link) => link.every((folder) => folder !== null && !foundations.has(folder)));
const staying = links.filter(([from, to]) => from === to);

console.log(`files             ${files.length}, ${lines.reduce((sum, each) => sum + each, 0)} lines`);
console.log(`median file       ${lines[Math.floor(lines.length / 2)]} lines, longest ${lines.at(-1)}`);
console.log(
  `slivers           ${slivers.length} (${percent(slivers.length, files.length)}) of ≤ ${sliverLines} lines`,
);
console.log(
  `imports           ${percent(staying.length, links.length)} of ${links.length} stay in their folder`,
);
console.log("longest functions");
for (const { name, lines: length, path } of longest)
  console.log(`  ${length} lines  ${name}  ${relative("src", path)}`);
