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
const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const tokensOf = (bytes: number) => Math.ceil(bytes / bytesPerToken);

/**
 * The parts of a turn's prompt, in their order, with estimates of their tokens. @param said
 * messages from the epoch's first one on
 */
export function promptOf(
  view: InView,
  said: readonly Message[],
  summary: Summary | undefined,
  cost: TurnCost | undefined,
): PromptPart[] {
  const lines = [...view.lines.values()];
  const block = lines.filter(
    ({ id, part }) => standing.has(part) && view.opening.memories.some((each) => each.id === id),
  );
  const added = lines.filter((line) => !block.includes(line));
  const ofLines = (shown: readonly ShownMemory[]) =>
    tokensOf(shown.reduce((sum, { text }) => sum + bytesOf(text ?? "") + lineBytes, 0));
  const messages = said.filter(({ seq }) => seq <= view.turn.seq);
  const text = summary?.text ?? "";
  const known = [
    {
      name: "Memory block",
      tokens: ofLines(block),
      about: `${block.length} lines, fixed since turn ${view.opening.turn}`,
      lines: block,
    },
    {
      name: "Summary",
      tokens: tokensOf(bytesOf(text)),
      about: `version ${view.turn.summaryId}`,
      text,
    },
    {
      name: "Messages",
      tokens: tokensOf(messages.reduce((sum, { characters }) => sum + characters, 0)),
      about: `${messages.length} word for word`,
    },
    {
      name: "Additions",
      tokens: ofLines(added),
      about: `${added.length} lines, each before its message`,
      lines: added,
    },
  ].filter(({ name }) => name !== "Summary" || view.turn.summaryId !== null);
  const reported =
    cost?.source === "model" && cost.promptTokens !== null && cost.calls > 0
      ? cost.promptTokens / cost.calls
      : null;
  const rest =
    reported === null
      ? null
      : Math.max(0, Math.round(reported - known.reduce((sum, { tokens }) => sum + tokens, 0)));
  const about = rest === null ? "yours; the model reported no tokens" : "yours, and the tools";
  return [{ name: "Instructions", tokens: rest, about }, ...known];
}
