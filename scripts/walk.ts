import { join, relative } from "node:path";
import ts from "typescript";

// Follows the calls of a story through `src` with the compiler's types, in the order of the code,
// and counts what its reader has to read. `npm run house` prints it.

/** A story, and the functions that it begins with. */
const stories: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  "a fact, from the model's answer to its row": [["facts/define-facts.ts", "defineFacts"]],
  "a message, to its row": [
    ["langgraph/nodes/remember-node.ts", "remembering"],
    ["remember/remember.ts", "remember"],
  ],
  "rows, to the next prompt": [
    ["langgraph/nodes/recall-node.ts", "recalling"],
    ["prompt/recall.ts", "recall"],
    ["langgraph/nodes/model-view.ts", "modelView"],
  ],
  "a question, to what the tool answers": [
    ["langgraph/tools/memory-query-tool.ts", "memoryQueryTool"],
    ["search/query-memories.ts", "queryMemories"],
    ["search/answer-query.ts", "bulletsOf"],
  ],
  forgetting: [["retention/forgetting/forget.ts", "forget"]],
};

/** Read once for all stories: no rooms of theirs. */
const foundations = /^(?:text|postgres|scope)\/|^(?:errors|clock|logger)/;

interface Walk {
  readonly story: string;
  /** Files, and functions in them: those within others are read with these. */
  readonly rooms: number;
  readonly functions: number;
  /** Of these functions. */
  readonly lines: number;
}

type CallableNode = ts.FunctionLikeDeclaration & { readonly body: ts.Node };

/** The functions of `src` that a name stands for. */
function createResolver(checker: ts.TypeChecker, folder: string) {
  return (identifier: ts.Identifier): CallableNode | null => {
    let symbol = ts.isShorthandPropertyAssignment(identifier.parent)
      ? checker.getShorthandAssignmentValueSymbol(identifier.parent)
      : checker.getSymbolAtLocation(identifier);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    const declaration = symbol?.valueDeclaration;
    if (!declaration?.getSourceFile().fileName.startsWith(folder)) return null;
    return callableOf(declaration);
  };
}

function callableOf(declaration: ts.Node): CallableNode | null {
  const isVariable = ts.isVariableDeclaration(declaration);
  const node = isVariable ? declaration.initializer : declaration;
  if (!node || !(ts.isFunctionDeclaration(node) || isVariable)) return null;
  const isFunction =
    ts.isFunctionDeclaration(node) || ts.isArrowFunction(node) || ts.isFunctionExpression(node);
  return isFunction && node.body ? (node as CallableNode) : null;
}

function identifiersIn(root: ts.Node): ts.Identifier[] {
  const found: ts.Identifier[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return;
    if (ts.isIdentifier(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
}

const isWithin = (inner: ts.Node, outer: ts.Node): boolean =>
  inner.getSourceFile() === outer.getSourceFile() &&
  inner.pos >= outer.pos &&
  inner.end <= outer.end;

function linesOf(node: ts.Node): number {
  const source = node.getSourceFile();
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  return lineAt(node.end) - lineAt(node.getStart()) + 1;
}

/** How far each story goes. */
export function walks(): Walk[] {
  const root = join(import.meta.dirname, "..");
  const folder = join(root, "src/");
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const files = fileNames.filter((file) => file.startsWith(folder));
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const resolve = createResolver(program.getTypeChecker(), folder);

  return Object.entries(stories).map(([story, beginnings]) => {
    const seen = new Set<CallableNode>();
    const rooms = new Set<string>();
    const enter = (callable: CallableNode): void => {
      const room = relative(folder, callable.getSourceFile().fileName);
      if (seen.has(callable) || foundations.test(room)) return;
      seen.add(callable);
      rooms.add(room);
      for (const identifier of identifiersIn(callable.body)) {
        const called = resolve(identifier);
        if (called && !isWithin(called, callable.body)) enter(called);
      }
    };
    for (const [file, name] of beginnings) enter(declared(program, join(folder, file), name));
    const lines = [...seen].reduce((sum, callable) => sum + linesOf(callable), 0);
    return { story, rooms: rooms.size, functions: seen.size, lines };
  });
}

/** @throws Error where a story's beginning has another name or place */
function declared(program: ts.Program, file: string, name: string): CallableNode {
  for (const statement of program.getSourceFile(file)?.statements ?? []) {
    const isNamed = ts.isFunctionDeclaration(statement) && statement.name?.text === name;
    const callable = isNamed ? callableOf(statement) : null;
    if (callable) return callable;
  }
  throw new Error(`scripts/walk.ts: ${file} has no function ${name}: name where the story begins.`);
}
