import { consentLine } from "../consents/consent-lines.rule.js";
import { containedLine } from "../screening/contained-text.js";
import { headOf } from "../text/storable-text.js";
import type { BlockPart } from "../transcript/shown-turns.js";
import { unreadLine } from "./find-recall.js";
import { lineOf, memoryLines, planPrompt } from "./memory-block.js";
import { isStanding, type RebuiltTurn, recalledOf, standIn } from "./rebuild-turn.js";
import {
  type EarlierAdditions,
  ofPart,
  type Recalled,
  type ShownMemory,
  shownIn,
} from "./recalled.js";

/** A line of memory in a turn's prompt. */
export interface ReplayLine {
  /** Of the memory or request; null if it is gone. */
  readonly id: string | null;
  readonly part: BlockPart | "change" | "consent" | "unread";
  /** As it was printed, without the bullet. */
  readonly line: string;
  /** The message before which it was added; null: it is in the block. */
  readonly messageId: string | null;
}

/** A line, and the memory or news that it is printed for. */
interface PrintedLine extends ReplayLine {
  readonly of: object;
}

/** What memory showed of itself, line by line. */
export function printedLines(turn: RebuiltTurn): PrintedLine[] {
  const recalled = recalledOf(turn);
  const { block, earlier, own } = planPrompt(recalled);
  const lines = memoriesIn(block.memories, null, recalled.timeZone);
  for (const added of [...earlier, { ...own, messageId: turn.own.messageId }])
    lines.push(
      ...newsIn(added, recalled.timeZone),
      ...memoriesIn(added.memories, added.messageId, recalled.timeZone),
    );
  return lines;
}

function memoriesIn(
  memories: readonly ShownMemory[],
  messageId: string | null,
  timeZone: string,
): PrintedLine[] {
  const notes = ofPart(memories, "notes").map((memory, at) => ({
    part: "notes" as const,
    memory,
    line: lineOf("notes", memory, at, timeZone),
  }));
  return [...memoryLines(memories, timeZone), ...notes].map(({ part, memory, line }) => {
    const id = memory.inPlace === undefined ? memory.id : null;
    return { id, part, line: withoutBullet(line), messageId, of: memory };
  });
}

function newsIn(
  { changes, consents, unread, messageId }: EarlierAdditions,
  timeZone: string,
): PrintedLine[] {
  const lines: PrintedLine[] = [];
  for (const of of changes.top)
    lines.push({ id: of.memoryId || null, part: "change", line: of.line, messageId, of });
  for (const of of consents)
    lines.push({ id: of.id, part: "consent", line: consentLine(of), messageId, of });
  for (const of of unread)
    lines.push({ id: null, part: "unread", line: unreadLine(of, timeZone), messageId, of });
  return lines;
}

const withoutBullet = (line: string): string => line.replace(/^(?:- |\d+\. )/, "");

/**
 * `turn` without some of its lines: of memories and requests by their ids, or by what a line says.
 */
export function withoutLines(turn: RebuiltTurn, without: readonly string[]): RebuiltTurn {
  // A line may itself begin as a bullet does: "1. FC is the user's club."
  const said = new Set([...without, ...without.map(withoutBullet)]);
  const lines = printedLines(turn).filter(({ line }) => said.has(line));
  const gone = new Set(lines.map(({ of }) => of));
  const isLeft = (each: object, id?: string) => !gone.has(each) && !said.has(id ?? "");
  const memoriesLeft = (shown: readonly ShownMemory[]) =>
    shown.filter(({ memory }) => isLeft(memory, memory.id) && !said.has(memory.text));
  const left = (added: EarlierAdditions): EarlierAdditions => ({
    ...added,
    memories: memoriesLeft(added.memories),
    changes: {
      ...added.changes,
      top: added.changes.top.filter((change) => isLeft(change, change.memoryId)),
    },
    consents: added.consents.filter((consent) => isLeft(consent, consent.id)),
    unread: added.unread.filter((message) => isLeft(message)),
  });
  const { block, earlier, own } = turn;
  return { ...turn, block: memoriesLeft(block), earlier: earlier.map(left), own: left(own) };
}

/** `turn` with `texts` among what it adds, each as a line that fits the question. */
export function withTexts(turn: RebuiltTurn, texts: readonly string[]): RebuiltTurn {
  const added = texts.map((text, at): ShownMemory => {
    const line = containedLine(headOf(text, maxTextCharacters));
    return { part: "relevant", memory: standIn(`added ${at}`, line) };
  });
  return { ...turn, own: { ...turn.own, memories: [...turn.own.memories, ...added] } };
}

const maxTextCharacters = 2_000;

/** `turn` with what a recall of now finds for its question. */
export function withToday(
  turn: RebuiltTurn,
  { memories, consents }: Pick<Recalled, "memories" | "consents">,
): RebuiltTurn {
  const shown = shownIn(memories);
  return {
    ...turn,
    isNew: true,
    openedBy: undefined,
    omitted: memories.omitted,
    omittedAtLeast: memories.omittedAtLeast,
    block: shown.filter(({ part }) => isStanding(part)),
    earlier: [],
    own: {
      messageId: turn.own.messageId,
      memories: shown.filter(({ part }) => !isStanding(part)),
      changes: { since: 0, revision: 0, count: 0, top: [] },
      consents,
      unread: [],
      omitted: 0,
      day: null,
      days: turn.own.days,
    },
  };
}
