import type { Message, ShownMemory, ShownTurn, Summary, TurnCost } from "./api-types.js";

/**
 * What the model had in view in a turn: what the epoch began with, and what each turn of it has
 * added.
 */
export interface InView {
  readonly turn: ShownTurn;
  /** The turn that the epoch began with. */
  readonly opening: ShownTurn;
  readonly lines: ReadonlyMap<string, ShownMemory>;
  /** Of the turn before. */
  readonly before: InView | undefined;
}

/** A turn that is looked at. */
export interface LookedAt {
  readonly view: InView | undefined;
  readonly question: Message | undefined;
  readonly cost: TurnCost | undefined;
  readonly summary: Summary | undefined;
}

/** What each turn had in view, by its seq. @param turns latest first */
export function inViewOf(turns: readonly ShownTurn[]): ReadonlyMap<number, InView> {
  const found = new Map<number, InView>();
  let before: InView | undefined;
  for (const turn of [...turns].reverse()) {
    const opens = turn.firstSeq !== null || before === undefined;
    const lines = new Map(opens ? [] : before?.lines);
    for (const memory of turn.memories) if (!lines.has(memory.id)) lines.set(memory.id, memory);
    before = { turn, opening: opens || !before ? turn : before.opening, lines, before };
    found.set(turn.seq, before);
  }
  return found;
}

/** Rows of one that the other does not have. */
export function missingFrom<Row extends { readonly id: string }>(
  rows: Iterable<Row>,
  ids: { has(id: string): boolean } | undefined,
): Row[] {
  return [...rows].filter(({ id }) => !ids?.has(id));
}

/** What a turn's prompt has that the one before had not. */
export function addedIn(view: InView | undefined): ShownMemory[] {
  return missingFrom(view?.lines.values() ?? [], view?.before?.lines);
}

/** A part of a prompt; null tokens where nobody reported them. */
export interface PromptPart {
  readonly name: string;
  readonly tokens: number | null;
  readonly about: string;
  readonly lines?: readonly ShownMemory[];
  readonly text?: string;
}

const standing = new Set(["profile", "rest", "notes"]);
const bytesPerToken = 4;
/** A line's category, brackets and end. */
const lineBytes = 20;
const bytesOf = (text: string | null) => new TextEncoder().encode(text ?? "").length;
const tokensOf = (bytes: number) => Math.ceil(bytes / bytesPerToken);

function partOfLines(name: string, lines: readonly ShownMemory[], where: string): PromptPart {
  const bytes = lines.reduce((sum, { text }) => sum + bytesOf(text) + lineBytes, 0);
  return { name, tokens: tokensOf(bytes), about: `${lines.length} lines, ${where}`, lines };
}

/**
 * The parts of a turn's prompt, in their order, with estimates of their tokens. @param said
 * messages from the epoch's first one on
 */
export function promptOf(
  { turn, opening, lines }: InView,
  said: readonly Message[],
  summary: Summary | undefined,
  cost: TurnCost | undefined,
): PromptPart[] {
  const { block = [], added = [] } = Object.groupBy(lines.values(), ({ id, part }) =>
    standing.has(part) && opening.memories.some((each) => each.id === id) ? "block" : "added",
  );
  const known = [partOfLines("Memory block", block, `fixed since turn ${opening.turn}`)];
  if (turn.summaryId !== null) {
    const text = summary?.text ?? "";
    known.push({
      name: "Summary",
      tokens: tokensOf(bytesOf(text)),
      about: `version ${turn.summaryId}`,
      text,
    });
  }
  const messages = said.filter(({ seq }) => seq <= turn.seq);
  const characters = messages.reduce((sum, each) => sum + each.characters, 0);
  known.push(
    { name: "Messages", tokens: tokensOf(characters), about: `${messages.length} word for word` },
    partOfLines("Additions", added, "each before its message"),
  );
  const instructions = {
    name: "Instructions",
    tokens: null,
    about: "yours; the model reported no tokens",
  };
  if (cost?.source !== "model" || cost.promptTokens === null || cost.calls === 0)
    return [instructions, ...known];
  const rest =
    cost.promptTokens / cost.calls - known.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
  return [
    { ...instructions, tokens: Math.max(0, Math.round(rest)), about: "yours, and the tools" },
    ...known,
  ];
}
