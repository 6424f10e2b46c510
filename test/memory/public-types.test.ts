import { join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { options, root } from "../support/compiler.js";

const entries = ["src/index.ts", "src/testing/index.ts"].map((path) => join(root, path));
const program = ts.createProgram(entries, options);
const checker = program.getTypeChecker();

function original(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** The declarations of a symbol in `src`. */
function placesOf({ declarations = [] }: ts.Symbol): ts.Declaration[] {
  return declarations.filter(
    (each) =>
      relative(root, each.getSourceFile().fileName).startsWith("src") &&
      !ts.isTypeParameterDeclaration(each),
  );
}

/** The types of `src` that a type names. */
function namedIn(type: ts.TypeNode): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
    const name = ts.isTypeReferenceNode(node) ? node.typeName : undefined;
    const symbol = name && checker.getSymbolAtLocation(name);
    if (symbol && placesOf(original(symbol)).length > 0) found.push(original(symbol));
    ts.forEachChild(node, visit);
  };
  visit(type);
  return found;
}

/** The return types of a function, or of the members of an interface and its parts. */
function returned(node: ts.Node): ts.TypeNode[] {
  if ((ts.isFunctionDeclaration(node) || ts.isMethodSignature(node)) && node.type)
    return [node.type];
  if (ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node))
    return node.members.flatMap(returned);
  if (!ts.isPropertySignature(node) || !node.type) return [];
  if (ts.isTypeLiteralNode(node.type)) return returned(node.type);
  return namedIn(node.type).flatMap(placesOf).flatMap(returned);
}

/** Types of `src` that exported functions return and the entry does not export. */
function unnameable(entry: string): string[] {
  const file = program.getSourceFile(entry);
  const own = file && checker.getSymbolAtLocation(file);
  const exported = new Set(own ? checker.getExportsOfModule(own).map(original) : []);
  const calls = [...exported].filter(
    ({ name, flags }) => name === "Memory" || flags & ts.SymbolFlags.Function,
  );
  const types = calls.flatMap(placesOf).flatMap(returned).flatMap(namedIn);
  return [...new Set(types)]
    .filter((symbol) => !exported.has(symbol))
    .map(({ name }) => name)
    .sort();
}

// A project that emits declarations must be able to name the type of an exported result.
describe("types of public calls", () => {
  it.each(entries)("Every type that a public call returns can be imported from %s", (entry) =>
    expect(unnameable(entry)).toEqual([]),
  );
});
