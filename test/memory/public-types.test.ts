import { join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);
const entries = ["src/index.ts", "src/testing/index.ts"].map((path) => join(root, path));
const program = ts.createProgram(entries, options);
const checker = program.getTypeChecker();

/** The types of `src` that a declaration speaks of; of a function or a value, what it says and not how it does it. */
function typesIn(declaration: ts.Node): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || isPrivate(node)) return;
    const name = typeName(node);
    const symbol = name && checker.getSymbolAtLocation(name);
    if (symbol) found.push(original(symbol));
    ts.forEachChild(node, visit);
  };
  if (!ts.isVariableDeclaration(declaration)) ts.forEachChild(declaration, visit);
  else if (declaration.type) visit(declaration.type);
  return found.filter((symbol) => placesOf(symbol).length > 0);
}

function typeName(node: ts.Node): ts.Node | null {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  return ts.isExpressionWithTypeArguments(node) ? node.expression : null;
}

function original(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Where a type is declared in `src`. */
function placesOf({ declarations = [] }: ts.Symbol): ts.Declaration[] {
  return declarations.filter(
    (each) =>
      relative(root, each.getSourceFile().fileName).startsWith("src") && !ts.isTypeParameterDeclaration(each),
  );
}

function isPrivate(node: ts.Node): boolean {
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
}

/** Names of types of `src` that what the entry exports speaks of and does not export. */
function unexported(entry: string | undefined): string[] {
  const file = program.getSourceFile(entry ?? "");
  const own = file && checker.getSymbolAtLocation(file);
  const exported = new Set(own ? checker.getExportsOfModule(own).map(original) : []);
  const seen = new Set<ts.Symbol>(exported);
  // A set grows while it is walked: every type that is found is looked into as well.
  for (const symbol of seen) {
    for (const place of placesOf(symbol)) for (const found of typesIn(place)) seen.add(found);
  }
  return [...seen]
    .filter((symbol) => !exported.has(symbol))
    .map(({ name }) => name)
    .sort();
}

describe("every type that a public signature speaks of", () => {
  it("can be imported from the package", () => {
    expect(unexported(entries[0])).toEqual([]);
  });

  it("can be imported from mnemograph/testing", () => {
    expect(unexported(entries[1])).toEqual([]);
  });
});
