import { dayMs } from "../clock.js";
import { consentLines } from "../consents/consent-lines.rule.js";
import { memoryPreface } from "../conversation/recalled-mark.js";
import type { BlockPart } from "../conversation/shown-turns.js";
import { deltaHeader } from "../memories/changes/memory-change.js";
import { type MemoryItem, shownLine, unverified } from "../memories/item/memory.js";
import { isOperators, noteBlock, noteLine } from "../notes/note-block.rule.js";
import { nearStatements } from "../search/near-statements.rule.js";
import { contained, containedLine, withoutHeadings } from "../text/contained-text.js";
import { bytesPerToken, readTokens } from "../text/estimate-tokens.js";
import { newFigure } from "../text/figures.js";
import { clipped, headAtWord, onOneLine } from "../text/storable-text.js";
import { dayIn } from "../text/time-zone.js";
import {
  type Additions,
  allOf,
  memoryParts,
  partOf,
  type Recalled,
  type RecalledChanges,
  type ShownMemories,
  shownMemory,
} from "./recalled.js";

// The plan of what a prompt shows, its lines, and their print.

/** What a prompt shows of memory, before it is printed. Nothing in it is shown twice. */
export function planPrompt(recalled: Recalled) {
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
    /** Stays until the epoch ends. */
    block: { memories: { profile, rest, notes }, day: namedDays[0] ?? day },
    /** Whether the block has more than the conversation. */
    hasMemories,
    /** What earlier turns of the epoch added before their users' messages, oldest first. */
    earlier,
    /** What this turn adds. */
    own: isUndated || isInBlock ? { ...own, day: null } : own,
  };
}

function isEmpty({ memories, changes, consents, unread, omitted }: Additions): boolean {
  return [allOf(memories), changes.top, consents, unread].flat().length + omitted === 0;
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
    untold[part] = shown[part]?.filter((each) => !isTold(shownMemory(each)));
  return untold as Shown;
}

type Shown = Pick<Additions, "memories"> &
  Partial<Pick<Additions, "changes" | "consents" | "unread">>;

/** The sections of a block, or of what a turn adds, each with its lines. */
function sectionsOf(
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
  const sections = new Map<MemorySection, string[]>();
  for (const [section, heading] of Object.entries(sectionHeadings))
    sections.set(section as MemorySection, [heading]);
  // A user and the user within an app may have the same memory.
  const written = new Set<string>();
  for (const part of ["profile", "relevant", "related", "episodes", "rest"] as const) {
    for (const memory of shown.flatMap((each) => partOf(each, part))) {
      const line = lineOf(part, memory, 0, timeZone, near.has(memory.id));
      if (written.has(line)) continue;
      written.add(line);
      sections.get(sectionOf(part, memory))?.push(line);
    }
  }
  const printed = [...sections.values()].filter(({ length }) => length > 1);
  return printed.map((lines) => lines.join("\n"));
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

const sectionHeadings = {
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

/**
 * All memories as one text, also what earlier turns of the epoch were shown; null if there are
 * none. For callers that make their prompts themselves (HTTP, `promptFor`) and prompts without a
 * user's message; a turn's prompt is `printPrompt`.
 */
export function memoryBlock(recalled: Recalled): string | null {
  const { changes, day, epoch } = recalled;
  const others = [epoch.added, ...epoch.earlier.map(({ memories }) => memories)];
  const memories = withoutTold(recalled.memories, changes);
  return printBlock(recalled, sectionsOf({ ...recalled, memories }, recalled, others), day);
}

/** What a turn's prompt has of memory. */
export function printPrompt(recalled: Recalled) {
  const { block, hasMemories, earlier, own } = planPrompt(recalled);
  const text = printBlock(recalled, sectionsOf(block, recalled), block.day);
  const additions = new Map<string | undefined, string>();
  for (const turn of [...earlier, { ...own, messageId: undefined }]) {
    const sections = sectionsOf(turn, recalled);
    if (turn.omitted > 0) sections.push(omittedNotice(turn.omitted));
    if (turn.day !== null) sections.push(dayLine(turn.day));
    if (sections.length === 0) continue;
    // A prompt without a block begins with what its first turn adds.
    if (text === null && additions.size === 0) sections.unshift(memoryPreface);
    additions.set(turn.messageId, `${openingAlone}${sections.join("\n\n")}${closing}\n\n`);
  }
  const { summary, omitted } = recalled;
  const isSummaryAlone = summary && !omitted && !hasMemories;
  const inner = isSummaryAlone
    ? summaryText(summary)
    : // Without the marks around it: a bracket stands in their place.
      (text ?? "").slice(openingAlone.length, -closing.length);
  // A bracket and an empty line end it, so it contains none.
  const context = `[Previous context: ${inner.replace(/\]\s*\n\s*/g, "]\n")}]\n\n`;
  return {
    /** The epoch's block: profile, fallback memories, notes and summary. */
    block: text,
    /** The same, as it stands before a user's message. */
    context,
    /**
     * What each turn of the epoch adds before its user's message, by message id; undefined for the
     * current one.
     */
    additions,
  };
}

/** Delimited: no memory can close the block or imitate its parts. */
function printBlock(
  { memories, summary, omitted }: Recalled,
  sections: readonly string[],
  day: string,
): string | null {
  const hasMemories = sections.length > 0;
  const conversation: string[] = [];
  if (summary) conversation.push(summarySection(summary));
  if (omitted) conversation.push(omittedMessages(omitted));
  if (!hasMemories && conversation.length === 0) return null;

  const above: string[] = [];
  const printed = [hasMemories ? blockOpening(day) : `${openingAlone}${memoryPreface}`];
  if (hasMemories) {
    printed.push(...sections, ...noticeOf(memories));
    above.push("memory");
  }
  if (conversation.length > 0) printed.push(`# Recent Conversation\n${conversation.join("\n\n")}`);
  if (summary) above.push("conversation");
  if (above.length > 0) printed.push(requestFor(above.join(" and ")));
  return printed.join("\n\n") + closing;
}

/** Of the whole block without the conversation, unrounded. */
export function blockTokens(found: Recalled): number {
  const memories = withoutTold(found.memories, found.changes);
  const sections = sectionsOf({ ...found, memories }, found);
  if (sections.length === 0) return 0;
  let tokens = frameTokens;
  for (const section of [...sections, ...noticeOf(memories)]) tokens += sectionTokens(section);
  return tokens;
}

/** Words do not continue over a line break, so sections and lines add up. */
function sectionTokens(text: string): number {
  return readTokens(`\n\n${text}`).tokens;
}

/** Notes have longer beginnings, which are counted with them. */
export function headingTokens(section: MemorySection): number {
  return section === "notes" || section === "operators"
    ? 0
    : sectionTokens(sectionHeadings[section]);
}

const longDay = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });

const dayLine = (day: string): string => `Today is ${longDay.format(new Date(`${day}T00:00Z`))}.`;

const requestFor = (above: string) => `Answer consistently using the ${above} above.`;
const openingAlone = "<memory>\n";
const blockOpening = (day: string) =>
  `${openingAlone}# Long-term Memory\n${dayLine(day)}\n${memoryPreface}`;
const closing = "\n</memory>";
const frameTokens =
  readTokens(blockOpening("2026-11-28")).tokens + sectionTokens(requestFor("memory") + closing);
export const frameBytes = frameTokens * bytesPerToken;

function noticeOf({ omitted, omittedAtLeast }: Recalled["memories"]): string[] {
  return omitted === 0 && !omittedAtLeast ? [] : [omittedNotice(omitted, omittedAtLeast)];
}

function omittedNotice(count: number, isLeast = false): string {
  const one = count === 1 && !isLeast;
  const number = count === 0 ? "Some" : isLeast ? `More than ${count}` : `And ${count}`;
  return `(${number} more ${one ? "memory is" : "memories are"} not shown here. If you have a tool to search memory, it finds them.)`;
}

type Summary = NonNullable<Recalled["summary"]>;

function summarySection(summary: Summary): string {
  // A greeting before the first turn belongs to it.
  const [first, last] = [summary.startTurn, summary.endTurn].map((turn) => Math.max(1, turn));
  return `[Summary of Round ${first}-${last}]:\n${summaryText(summary)}`;
}

function summaryText({ text }: Summary): string {
  return contained(withoutHeadings(text));
}

/** Otherwise an agent takes the first message that it sees for the first one. */
function omittedMessages({ messages }: NonNullable<Recalled["omitted"]>): string {
  return (
    `[${messages.toLocaleString("en")} earlier messages are not shown: they are too many, and no summary has them. ` +
    "They are kept, and a search of the transcript finds them.]"
  );
}
