import { dayMs } from "../clock.js";
import { consentLines } from "../consents/consent-lines.rule.js";
import type { BlockPart } from "../conversation/shown-turns.js";
import { deltaHeader } from "../memories/changes/memory-change.js";
import { type MemoryItem, shownLine, unverified } from "../memories/item/memory.js";
import { isOperators, noteBlock, noteLine } from "../notes/note-block.rule.js";
import { nearStatements } from "../search/near-statements.rule.js";
import { containedLine } from "../text/contained-text.js";
import { readTokens } from "../text/estimate-tokens.js";
import { newFigure } from "../text/figures.js";
import { clipped, headAtWord, onOneLine } from "../text/storable-text.js";
import { dayIn } from "../text/time-zone.js";
import {
  type Additions,
  memoryParts,
  partOf,
  type Recalled,
  type RecalledChanges,
  type ShownMemories,
} from "./recalled.js";

/** What a prompt shows of memory, before it is printed. Nothing in it is shown twice. */
export interface PromptPlan {
  /** Stays until the epoch ends. */
  readonly block: { readonly memories: ShownMemories; readonly day: string };
  /** Whether the block has more than the conversation. */
  readonly hasMemories: boolean;
  /** What earlier turns of the epoch added before their users' messages, oldest first. */
  readonly earlier: Recalled["epoch"]["earlier"];
  /** What this turn adds. */
  readonly own: Additions;
}

export function planPrompt(recalled: Recalled): PromptPlan {
  const { epoch, changes, consents, unread, day } = recalled;
  const { profile, rest, notes, ...found } = withoutTold(recalled.memories, changes);
  const { relevant, episodes, related } = found;
  const hasMemories = profile.length + rest.length + notes.length > 0;

  const namedDays = epoch.earlier.flatMap((turn) => turn.day ?? []);
  const own = {
    memories: { ...epoch.added, relevant, episodes, related },
    changes,
    consents,
    unread,
    omitted: epoch.addedOmitted,
    day: day === namedDays.at(-1) ? null : day,
  };
  // A prompt without memory names no day, and a block with memories names it for its turn.
  const isUndated = namedDays.length === 0 && isEmpty(own);
  const isInBlock = epoch.isNew && hasMemories;
  const earlier = epoch.earlier.map((turn) =>
    turn.messageId === epoch.openedBy && hasMemories ? { ...turn, day: null } : turn,
  );
  return {
    block: { memories: { profile, rest, notes }, day: namedDays[0] ?? day },
    hasMemories,
    earlier,
    own: isUndated || isInBlock ? { ...own, day: null } : own,
  };
}

function isEmpty({ memories, changes, consents, unread, omitted }: Additions): boolean {
  const shown = memoryParts.flatMap((part) => memories[part] ?? []);
  return [shown, changes.top, consents, unread].flat().length + omitted === 0;
}

/** `shown` without what a change tells in full: the prompt has it once. */
export function withoutTold<Shown extends ShownMemories>(
  shown: Shown,
  { top }: Pick<RecalledChanges, "top">,
): Shown {
  if (top.length === 0) return shown;
  const lines = new Map(top.map(({ memoryId, line }) => [memoryId, line]));
  const isTold = ({ id, text }: MemoryItem) => !!lines.get(id)?.includes(onOneLine(text));
  const untold = { ...shown } as Record<BlockPart, unknown>;
  for (const part of memoryParts)
    untold[part] = shown[part]?.filter((each) => !isTold("memory" in each ? each.memory : each));
  return untold as Shown;
}

type Shown = Pick<Additions, "memories"> &
  Partial<Pick<Additions, "changes" | "consents" | "unread">>;

/** The sections of a block, or of what a turn adds, each with its lines. */
export function sectionsOf(
  { memories, changes, consents = [], unread = [] }: Shown,
  { appName, timeZone }: Pick<Recalled, "appName" | "timeZone">,
  others: readonly ShownMemories[] = [],
): string[] {
  const shown = [memories, ...others];
  const notes = shown.flatMap((each) => partOf(each, "notes"));
  return [
    changes ? changeSection(changes) : null,
    ...memorySections(shown, timeZone),
    noteBlock(notes, appName ?? notes[0]?.scope.appId ?? "", timeZone),
    unreadSection(unread),
    consentSection(consents),
  ].filter((section) => section !== null);
}

function changeSection(changes: RecalledChanges): string | null {
  const top = changes.top.map((change) => ({ ...change, line: containedLine(change.line) }));
  return deltaHeader({ ...changes, top });
}

function memorySections(shown: readonly ShownMemories[], timeZone: string): string[] {
  const statements = shown.flatMap((each) => [
    ...partOf(each, "relevant"),
    ...partOf(each, "rest"),
  ]);
  const near = nearStatements(statements);
  const lines = new Map<MemorySection, string[]>();
  // A user and the user within an app may have the same memory.
  const written = new Set<string>();
  for (const part of ["profile", "relevant", "related", "episodes", "rest"] as const) {
    for (const memory of shown.flatMap((each) => partOf(each, part))) {
      const line = lineOf(part, memory, 0, timeZone, near.has(memory.id));
      if (written.has(line)) continue;
      written.add(line);
      const section = sectionOf(part, memory);
      const its = lines.get(section);
      if (its) its.push(line);
      else lines.set(section, [line]);
    }
  }
  const sections: string[] = [];
  for (const [section, heading] of Object.entries(sectionHeadings)) {
    const its = lines.get(section as MemorySection);
    if (its) sections.push([heading, ...its].join("\n"));
  }
  return sections;
}

/** No fact is longer. */
const unreadCharacters = 280;

function unreadSection(messages: Recalled["unread"]): string | null {
  if (messages.length === 0) return null;
  const lines = messages.map(({ text }) => `- ${containedLine(clipped(text, unreadCharacters))}`);
  return ["## Said by the User in Another Conversation", ...lines].join("\n");
}

function consentSection(waiting: Recalled["consents"]): string | null {
  if (waiting.length === 0) return null;
  return [
    "## Waiting for the User's Consent",
    "None of this is known until the user agrees. Where it fits, ask about it. With a tool for consent, call it only " +
      "when the user plainly said yes or no to one of these:",
    ...consentLines(waiting).map((line) => `- ${containedLine(line)}`),
  ].join("\n");
}

export const sectionHeadings = {
  profile: "## User Profile",
  unverified: "## Unverified",
  fits: "## Relevant to This Message",
  context: "## Recent Context",
  rest: "## Also Known",
} as const;

export type MemorySection = keyof typeof sectionHeadings | "notes" | "operators";

/** Unverified memories are not in the profile. */
export function sectionOf(part: BlockPart, memory: MemoryItem): MemorySection {
  if (part === "profile") return unverified(memory) === null ? part : "unverified";
  if (part === "notes") return isOperators(memory) ? "operators" : part;
  if (part === "rest") return part;
  return part === "episodes" ? "context" : "fits";
}

export function lineOf(
  part: BlockPart,
  memory: MemoryItem,
  place: number,
  timeZone: string,
  isDated = false,
): string {
  if (part === "notes") return noteLine(memory, place, timeZone);
  return `- ${shownLine(memory, textOf(memory, part, timeZone, isDated))}`;
}

/** Unrounded, with the line break before: tokens of lines and sections add up. */
export function lineTokens(line: string): number {
  return readTokens(`\n${line}`).tokens;
}

function textOf(memory: MemoryItem, part: BlockPart, timeZone: string, isDated: boolean): string {
  const { text, category, turns } = memory;
  if (part === "episodes")
    return `${turns ? `turns ${turns.start}-${turns.end}: ` : ""}${beginning(text)}`;
  return `${part === "profile" ? profileText(memory) : `[${category}] ${text}`}${history(memory, timeZone, isDated)}`;
}

/** Characters around a key and value in a sentence: "The user's favourite … is …". */
const frameCharacters = 30;

/** Key and value, unless the sentence says more. */
function profileText({ key, value, text }: MemoryItem): string {
  if (key === null || value === null) return text;
  const saysMore =
    text.length > key.length + value.length + frameCharacters ||
    newFigure(text, [key, value]) !== undefined;
  return saysMore ? text : `${key}: ${value}`;
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/**
 * Start of validity, unless that is within a day of its creation and `isDated` is not set, and the
 * earlier value.
 */
function history(
  { validFrom, createdAt, earlier }: MemoryItem,
  timeZone: string,
  isDated: boolean,
): string {
  const isOlder = createdAt.getTime() - validFrom.getTime() > dayMs;
  if (!isOlder && !isDated && earlier === undefined) return "";
  const since = dayFormat.format(new Date(dayIn(validFrom, timeZone)));
  return ` (since ${since}${earlier === undefined ? "" : `, earlier: ${clipped(earlier, earlierCharacters)}`})`;
}

const earlierCharacters = 80;

/** Characters of an episode that are shown; `memory.query` returns all of it. */
export const episodeCharacters = 150;

function beginning(text: string): string {
  const line = onOneLine(text);
  return line.length <= episodeCharacters ? line : `${headAtWord(line, episodeCharacters)}...`;
}
