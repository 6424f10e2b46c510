import { endOfPart, startOfPart } from "./cut-text.js";
import { bytesPerToken, readTokens } from "./estimate-tokens.js";

export interface PieceBounds {
  readonly inputBudgetTokens: number;
  readonly maxPieces: number;
}

const markupTokens = 15;

/**
 * Groups consecutive items into at most `budgetTokens` each, splitting larger ones; stops after one
 * group too many.
 */
export function textPieces<Item extends { text: string }>(
  items: readonly Item[],
  budgetTokens: number,
  maxPieces = Number.POSITIVE_INFINITY,
): Item[][] {
  const pieces: Item[][] = [];
  const textTokens = Math.max(1, budgetTokens - markupTokens);
  let used = Number.POSITIVE_INFINITY;
  for (const item of items) {
    let start = 0;
    do {
      const { end, tokens } = pieceFrom(item.text, start, textTokens);
      if (used + tokens > textTokens) {
        if (pieces.length > maxPieces) return pieces;
        pieces.push([]);
        used = 0;
      }
      pieces.at(-1)?.push({ ...item, text: item.text.slice(start, end) });
      used += tokens + markupTokens;
      start = end;
    } while (start < item.text.length);
  }
  return pieces;
}

export async function foldPieces<Item extends { text: string }, Result>(
  input: {
    readonly items: readonly Item[];
    readonly budgetTokens: number;
    readonly start: Result;
    readonly between?: () => Promise<void>;
  },
  fold: (
    result: Result,
    piece: readonly Item[],
    place: { readonly isFirst: boolean; readonly isLast: boolean },
  ) => Promise<Result>,
): Promise<Result> {
  const pieces = textPieces(input.items, input.budgetTokens);
  let result = input.start;
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await input.between?.();
    result = await fold(result, piece, {
      isFirst: index === 0,
      isLast: index === pieces.length - 1,
    });
  }
  return result;
}

function pieceFrom(text: string, start: number, budgetTokens: number) {
  const { end, tokens } = readTokens(text, start, budgetTokens);
  return { end: endOfPart(text, start, end), tokens: Math.ceil(tokens) };
}

/** Shorter items are omitted, since the mark alone takes a dozen tokens. */
const minTokens = 40;

/**
 * The first groups of `items` that fit the bounds. A single item that is too long keeps its head
 * and tail. If the first group is too long, its longest items are cut first; of too many items the
 * first and last stay.
 */
export function withinBounds<Item extends { text: string }>(
  items: readonly Item[],
  { inputBudgetTokens, maxPieces }: PieceBounds,
  beginsGroup: (item: Item) => boolean = () => false,
) {
  const most = inputBudgetTokens * maxPieces;
  const whole = items.map((item) =>
    fitsTokens(item.text, most) ? item : { ...item, text: withoutMiddle(item.text, most / 2) },
  );
  const taken = firstThatFit(whole, { inputBudgetTokens, maxPieces }, beginsGroup);
  const first = whole.slice(0, taken);
  const fits = (some: readonly Item[]) =>
    textPieces(some, inputBudgetTokens, maxPieces).length <= maxPieces;
  if (fits(first))
    return { items: first, taken, isCut: first.some((item, index) => item !== items[index]) };
  // Groups have gaps at their ends, so the total shrinks until they fit.
  for (let total = most; ; total *= 0.8) {
    const kept = headAndTail(first, Math.max(1, Math.floor(total / minTokens)));
    const sizes = kept.map(({ text }) => readTokens(text, 0, total).tokens + 1);
    const share = fairShare(sizes, total);
    const cut = kept.map((item) => ({ ...item, text: withoutMiddle(item.text, share) }));
    if (fits(cut)) return { items: cut, taken, isCut: true };
  }
}

function firstThatFit<Item extends { text: string }>(
  items: readonly Item[],
  { inputBudgetTokens, maxPieces }: PieceBounds,
  beginsGroup: (item: Item) => boolean,
): number {
  const numbered = items.map(({ text }, index) => ({ text, index }));
  const beyond = textPieces(numbered, inputBudgetTokens, maxPieces)[maxPieces]?.[0]?.index;
  if (beyond === undefined) return items.length;
  const starts = [...items.keys()].filter(
    (index) => index > 0 && beginsGroup(items[index] as Item),
  );
  return starts.findLast((index) => index <= beyond) ?? starts[0] ?? items.length;
}

function headAndTail<Item extends { text: string }>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items];
  const head = items.slice(0, Math.ceil(most / 2));
  const tail = items.slice(items.length - Math.floor(most / 2));
  const mark = leftOut(items.length - most, "messages");
  const marked = head.map((item, index) =>
    index === head.length - 1 ? { ...item, text: item.text + mark } : item,
  );
  return [...marked, ...tail];
}

function fairShare(sizes: readonly number[], total: number): number {
  let remaining = total;
  for (const [index, size] of sizes.toSorted((one, other) => one - other).entries()) {
    const share = remaining / (sizes.length - index);
    if (size > share) return share;
    remaining -= size;
  }
  return total;
}

const markTokens = 20;

const fitsTokens = (text: string, maxTokens: number): boolean =>
  readTokens(text, 0, maxTokens).end === text.length;

function withoutMiddle(text: string, maxTokens: number): string {
  if (fitsTokens(text, maxTokens)) return text;
  const half = Math.max(1, (maxTokens - markTokens) / 2);
  const head = text.slice(0, pieceFrom(text, 0, half).end);
  const windowStart = Math.max(head.length, text.length - Math.ceil(half) * bytesPerToken);
  const surplus = readTokens(text, windowStart).tokens - half;
  const tail = text.slice(startOfPart(text, readTokens(text, windowStart, surplus).end));
  return head + leftOut(text.length - head.length - tail.length, "characters") + tail;
}

const leftOut = (count: number, of: "characters" | "messages"): string =>
  `\n[… ${count.toLocaleString("en")} ${of} left out …]\n`;
