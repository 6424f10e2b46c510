import { consentLine } from "../consents/consent-lines.rule.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { containedLine } from "../screening/contained-text.js";
import type { RankedHit } from "../search/rank-memories.rule.js";
import { headOf } from "../text/storable-text.js";
import type { ShownPart } from "../transcript/shown-turns.js";
import { lineOf, memoryLines, planPrompt, unreadLine } from "./memory-block.js";
import { standIn } from "./rebuild-turn.js";
import { type Additions, noMemories, type Recalled, type ShownMemory } from "./recalled.js";

/** A line of memory in a turn's prompt. */
export interface ReplayLine {
  /** Of the memory or request; null if it is gone. */
  readonly id: string | null;
  readonly part: Exclude<ShownPart, "told"> | "change" | "consent" | "unread";
  /** As it was printed, without the bullet. */
  readonly line: string;
  /** The message before which it was added; null: it is in the block. */
  readonly messageId: string | null;
}

/** What memory showed of itself, line by line; `messageId` is the turn's own. */
export function replayLines(recalled: Recalled, messageId: string): ReplayLine[] {
  const { block, earlier, own } = planPrompt(recalled);
  const lines = memoriesIn(block.memories, recalled).map((line) => ({ ...line, messageId: null }));
  const added = (turn: Additions, before: string) =>
    [...newsIn(turn), ...memoriesIn(turn.memories, recalled)].map((line) => ({
      ...line,
      messageId: before,
    }));
  return [
    ...lines,
    ...earlier.flatMap((turn) => added(turn, turn.messageId)),
    ...added(own, messageId),
  ];
}

type Line = Omit<ReplayLine, "messageId">;

function memoriesIn(memories: readonly ShownMemory[], { timeZone }: Recalled): Line[] {
  const notes = memories
    .filter(({ part }) => part === "notes")
    .map(({ part, memory }, at) => ({ part, memory, line: lineOf(part, memory, at, timeZone) }));
  return [...memoryLines(memories, timeZone), ...notes].map(({ part, memory, line }) => ({
    id: memory.inPlace === undefined ? memory.id : null,
    part,
    line: withoutBullet(line),
  }));
}

function newsIn({ changes, consents, unread }: Additions): Line[] {
  return [
    ...changes.top.map(
      ({ memoryId, line }) => ({ id: memoryId || null, part: "change", line }) as const,
    ),
    ...consents.map(
      (consent) => ({ id: consent.id, part: "consent", line: consentLine(consent) }) as const,
    ),
    ...unread.map((message) => ({ id: null, part: "unread", line: unreadLine(message) }) as const),
  ];
}

const withoutBullet = (line: string): string => line.replace(/^(?:- |\d+\. )/, "");

/**
 * `recalled` without some of its lines: of memories and requests by their ids, or by what a line
 * says.
 */
export function withoutLines(recalled: Recalled, without: readonly string[]): Recalled {
  if (without.length === 0) return recalled;
  const gone = new Set(without.map(withoutBullet));
  const { epoch, memories, timeZone } = recalled;
  const keepsMemory = (part: ShownMemory["part"]) => (memory: MemoryItem) =>
    !gone.has(memory.id) && !gone.has(memory.text) && !goneLines.has(`${part} ${memory.id}`);
  // A line's words depend on the lines around it.
  const goneLines = new Set<string>();
  const { block, earlier, own } = planPrompt(recalled);
  for (const list of [block.memories, own.memories, ...earlier.map((turn) => turn.memories)])
    for (const { part, memory, line } of memoryLines(list, timeZone))
      if (gone.has(withoutBullet(line))) goneLines.add(`${part} ${memory.id}`);
  const keepsHit =
    (part: ShownMemory["part"]) =>
    ({ memory }: RankedHit) =>
      keepsMemory(part)(memory);
  const news = <Of extends Pick<Additions, "changes" | "consents" | "unread">>(turn: Of): Of => ({
    ...turn,
    changes: {
      ...turn.changes,
      top: turn.changes.top.filter(({ memoryId, line }) => !gone.has(memoryId) && !gone.has(line)),
    },
    consents: turn.consents.filter(
      (consent) => !gone.has(consent.id) && !gone.has(consentLine(consent)),
    ),
    unread: turn.unread.filter((message) => !gone.has(unreadLine(message))),
  });
  return {
    ...news(recalled),
    memories: {
      ...memories,
      profile: memories.profile.filter(keepsMemory("profile")),
      related: memories.related.filter(keepsMemory("related")),
      rest: memories.rest.filter(keepsMemory("rest")),
      notes: memories.notes.filter(keepsMemory("notes")),
      relevant: memories.relevant.filter(keepsHit("relevant")),
      episodes: memories.episodes.filter(keepsHit("episodes")),
    },
    epoch: {
      ...epoch,
      added: {
        ...epoch.added,
        profile: epoch.added.profile.filter(keepsMemory("profile")),
        notes: epoch.added.notes.filter(keepsMemory("notes")),
      },
      earlier: epoch.earlier.map((turn) => ({
        ...news(turn),
        memories: turn.memories.filter(({ part, memory }) => keepsMemory(part)(memory)),
      })),
    },
  };
}

/** `recalled` with `texts` among what its turn adds, each as a line that fits the question. */
export function withTexts(recalled: Recalled, texts: readonly string[]): Recalled {
  if (texts.length === 0) return recalled;
  const added = texts.map((text, at) => ({
    memory: standIn(`added ${at}`, oneLine(text)),
  })) as unknown as RankedHit[];
  const { memories } = recalled;
  return { ...recalled, memories: { ...memories, relevant: [...memories.relevant, ...added] } };
}

const maxTextCharacters = 2_000;
const oneLine = (text: string) => containedLine(headOf(text, maxTextCharacters));

/** The turn of `recalled` with what a recall of now finds for its question. */
export function withToday(recalled: Recalled, today: Recalled): Recalled {
  const { epoch } = recalled;
  return {
    ...recalled,
    memories: today.memories,
    changes: { since: 0, revision: 0, count: 0, top: [] },
    consents: today.consents,
    unread: [],
    epoch: {
      ...epoch,
      isNew: true,
      openedBy: undefined,
      earlier: [],
      added: { ...noMemories, omitted: 0 },
    },
  };
}
