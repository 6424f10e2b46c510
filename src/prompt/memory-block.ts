import { dayMs } from "../clock.js";
import { consentLines } from "../consents/consent-lines.rule.js";
import { deltaHeader, isDoubt } from "../memories/audit/memory-change.js";
import { type MemoryItem, shownLine, unverified } from "../memories/item/memory.js";
import { memoryPreface } from "../messages/recalled-mark.js";
import { isOperators, noteBlock, noteLine } from "../notes/note-block.rule.js";
import { contained, containedLine, withoutHeadings } from "../screening/contained-text.js";
import { nearStatements } from "../search/near-statements.rule.js";
import { bytesPerToken, estimateTokens, readTokens } from "../text/estimate-tokens.js";
import { newFigure } from "../text/figures.js";
import { clipped, headAtWord, onOneLine } from "../text/storable-text.js";
import { fullDay, longDate } from "../text/time-zone.js";
import type { BlockPart } from "../transcript/shown-turns.js";
import { unreadLine } from "./find-recall.js";
import { omittedMessages, omittedNotice } from "./omitted-lines.rule.js";
import {
  type Additions,
  type DayOf,
  type EarlierAdditions,
  ofPart,
  type Recalled,
  type RecalledChanges,
  type ShownMemory,
  shownIn,
  standingParts,
} from "./recalled.js";

// The plan of what a prompt shows, its lines, and their print.

/** What a prompt shows of memory, before it is printed. Nothing in it is shown twice. */
export function planPrompt(recalled: Recalled) {
  const { epoch, changes, consents, unread, day, days } = recalled;
  const memories = withoutTold(shownIn(recalled.memories), changes);
  const inBlock = memories.filter(({ part }) => standingParts.includes(part));
  const found = memories.filter(({ part }) => !standingParts.includes(part));
  const hasMemories = inBlock.length > 0;

  const omittedBefore = Math.max(0, ...epoch.earlier.map((turn) => turn.omitted));
  const own: Additions = {
    memories: [...shownIn(epoch.added), ...found],
    changes,
    consents,
    unread,
    omitted: epoch.added.omitted > omittedBefore ? epoch.added.omitted : 0,
    day,
    days,
  };
  const dated = epoch.earlier.find((turn) => turn.day !== null);
  const firstDated = dated ?? own;
  const isOpening = dated ? dated.messageId === epoch.openedBy : epoch.isNew;
  const namedDays = epoch.earlier.flatMap((turn) => turn.day ?? []);
  // A prompt of today without memory names no day, and a block with memories names it for its turn.
  const isOfToday = days.length === 0 && countOf(own) + own.omitted === 0;
  const isUndated = namedDays.length === 0 && isOfToday;
  const isInBlock = epoch.isNew && hasMemories;
  const isNamed = isUndated || isInBlock || day === namedDays.at(-1);
  const earlier = epoch.earlier.map((turn) =>
    turn.messageId === epoch.openedBy && hasMemories ? { ...turn, day: null } : turn,
  );
  return {
    /** Stays until the epoch ends. */
    block: { memories: inBlock, day: firstDated.day ?? day },
    /** Of messages before the epoch. */
    days: isOpening ? firstDated.days : [],
    /** Whether the block has more than the conversation. */
    hasMemories,
    /** What earlier turns of the epoch added before their users' messages, oldest first. */
    earlier,
    /** What this turn adds. */
    own: { ...own, day: isNamed ? null : day },
  };
}

/** How many things a turn adds. */
export function countOf({ memories, changes, consents, unread }: Additions): number {
  return memories.length + changes.top.length + consents.length + unread.length;
}

/**
 * Whether one of `top` tells a memory in full: then no list repeats it. A doubt is told beside the
 * line that the prompt shows.
 */
export function toldIn({ top }: Pick<RecalledChanges, "top">): (memory: MemoryItem) => boolean {
  const told = top.filter(({ event }) => !isDoubt(event));
  const lines = new Map(told.map(({ memoryId, line }) => [memoryId, line]));
  return ({ id, text }) => lines.get(id)?.includes(onOneLine(text)) ?? false;
}

/** `shown` without what a change tells in full. */
function withoutTold(shown: readonly ShownMemory[], changes: RecalledChanges): ShownMemory[] {
  const isTold = toldIn(changes);
  return shown.filter(({ memory }) => !isTold(memory));
}

type Shown = Pick<Additions, "memories"> &
  Partial<Pick<Additions, "changes" | "consents" | "unread">>;

/** The sections of a block, or of what a turn adds, each with its lines. */
function sectionsOf(
  { memories, changes, consents = [], unread = [] }: Shown,
  { appName, timeZone }: Pick<Recalled, "appName" | "timeZone">,
): string[] {
  const sections: string[] = [];
  const add = (heading: string, lines: readonly string[]) => {
    if (lines.length > 0) sections.push([heading, ...lines].join("\n"));
  };
  const bullet = (text: string) => `- ${containedLine(text)}`;

  if (changes) {
    const top = changes.top.map((change) => ({ ...change, line: containedLine(change.line) }));
    const header = deltaHeader({ ...changes, top });
    if (header !== null) sections.push(header);
  }
  // A user and the user within an app may have the same memory: its line is printed once.
  const lines = new Map<string, MemorySection>();
  for (const { part, memory, line } of memoryLines(memories, timeZone))
    if (!lines.has(line)) lines.set(line, sectionOf(part, memory));
  for (const [section, heading] of Object.entries(sectionHeadings))
    add(
      heading,
      [...lines.keys()].filter((line) => lines.get(line) === section),
    );
  const notes = ofPart(memories, "notes");
  const ofApp = noteBlock(notes, appName ?? notes[0]?.scope.appId ?? "", timeZone);
  if (ofApp !== null) sections.push(ofApp);
  add(
    "## Said by the User in Another Conversation",
    unread.map((message) => `- ${unreadLine(message, timeZone)}`),
  );
  add(consentHeading, consentLines(consents).map(bullet));
  return sections;
}

/** Each memory with its line, in the order of a prompt; notes are printed as a block. */
export function memoryLines(
  memories: readonly ShownMemory[],
  timeZone: string,
): (ShownMemory & { readonly line: string })[] {
  const dated = nearStatements(
    memories
      .filter(({ part, memory }) => (part === "relevant" || part === "rest") && !memory.inPlace)
      .map(({ memory }) => memory),
  );
  return (["profile", "relevant", "related", "episodes", "rest"] as const).flatMap((part) =>
    ofPart(memories, part).map((memory) => ({
      part,
      memory,
      line: lineOf(part, memory, 0, timeZone, dated.has(memory.id)),
    })),
  );
}

const consentHeading =
  "## Waiting for the User's Consent\n" +
  "None of this is known until the user agrees. Where it fits, ask about it. With a tool for consent, call it only " +
  "when the user plainly said yes or no to one of these:";

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
  if (memory.inPlace !== undefined) return `- ${memory.inPlace}`;
  return `- ${shownLine(memory, textOf(memory, part, timeZone, isDated), timeZone)}`;
}

/** Unrounded, with the line break before: tokens of lines and sections add up. */
export function lineTokens(line: string): number {
  return readTokens(`\n${line}`).tokens;
}

function textOf(memory: MemoryItem, part: BlockPart, timeZone: string, isDated: boolean): string {
  const { text, category, turns, validFrom } = memory;
  if (part === "episodes") {
    // Its turns may be another conversation's.
    const day = longDate(validFrom, timeZone);
    return `${turns ? `turns ${turns.start}-${turns.end} (${day})` : day}: ${beginning(text)}`;
  }
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
  const since = longDate(validFrom, timeZone);
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
 * All memories as one text, also what earlier turns of the epoch were shown or told, without what
 * has been replaced since; null if there are none. For callers that make their prompts themselves
 * (HTTP, `promptFor`) and prompts without a user's message; a turn's prompt is `printPrompt`.
 */
export function memoryBlock(recalled: Recalled): string | null {
  const { changes, epoch } = recalled;
  const consents = [...recalled.consents, ...epoch.asked];
  const unread = [...epoch.earlier.flatMap((turn) => turn.unread), ...recalled.unread];
  const shown = [
    ...shownIn(recalled.memories),
    ...shownIn(epoch.added),
    ...epoch.earlier.flatMap((turn) => turn.memories),
    ...epoch.told,
  ];
  const shownIds = new Set(shown.map(({ memory }) => memory.id));
  const isCurrent = ({ memory: { state, supersededBy } }: ShownMemory) =>
    state !== "superseded" && !shownIds.has(supersededBy ?? "");
  const memories = withoutTold(shown.filter(isCurrent), changes);
  return printBlock(
    recalled,
    sectionsOf({ memories, changes, consents, unread }, recalled),
    recalled,
  );
}

type Added = Additions & { readonly messageId: EarlierAdditions["messageId"] | undefined };

function addedSections(turn: Added, recalled: Recalled): string[] {
  const sections = [...sectionsOf(turn, recalled), ...omittedNotice(turn.omitted)];
  // Messages that were shown before without their days stay as they were.
  const isOpener = turn.messageId === recalled.epoch.openedBy;
  const leftOn = isOpener ? undefined : turn.days.at(-1)?.[1];
  if (turn.day !== null) sections.push(dayLine(turn.day, leftOn));
  return sections;
}

/** What a turn's prompt has of memory. */
export function printPrompt(recalled: Recalled) {
  const { block, days, hasMemories, earlier, own } = planPrompt(recalled);
  const text = printBlock(recalled, sectionsOf(block, recalled), block);
  const { summary, omitted } = recalled;
  const isSummaryAlone = summary && !omitted && !hasMemories;
  let hasPreface = text !== null && !isSummaryAlone;
  const additions = new Map<string | undefined, string>();
  const add = (messageId: string | undefined, sections: readonly string[]) =>
    additions.set(messageId, `${opening}${sections.join("\n\n")}${closing}\n\n`);
  for (const turn of [...earlier, { ...own, messageId: undefined }]) {
    const sections = addedSections(turn, recalled);
    if (sections.length === 0) continue;
    // Where no block says it, what the first turn adds does; changes stay its first line.
    if (!hasPreface && countOf(turn) + turn.omitted > 0) {
      sections.splice(turn.changes.top.length > 0 ? 1 : 0, 0, memoryPreface);
      hasPreface = true;
    }
    add(turn.messageId, sections);
  }
  for (const [messageId, day] of days) add(messageId, [dayLine(day)]);
  const inner = isSummaryAlone
    ? summaryText(summary)
    : // Without the marks around it: a bracket stands in their place.
      (text ?? "").slice(opening.length, -closing.length);
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
  { memories, summary, omitted }: Pick<Recalled, "memories" | "summary" | "omitted">,
  sections: readonly string[],
  { day, days = [] }: Pick<Recalled, "day"> & Partial<Pick<Recalled, "days">>,
): string | null {
  const hasMemories = sections.length > 0;
  const conversation: string[] = [];
  if (summary) conversation.push(summarySection(summary));
  if (omitted) conversation.push(omittedMessages(omitted));
  if (!hasMemories && conversation.length === 0) return null;

  const above: string[] = [];
  const printed: string[] = [];
  if (hasMemories) {
    const notice = omittedNotice(memories.omitted, memories.omittedAtLeast);
    printed.push(blockHeading(day, days.at(-1)?.[1]), ...sections, ...notice);
    above.push("memory");
  } else printed.push(memoryPreface);
  if (conversation.length > 0) printed.push(`# Recent Conversation\n${conversation.join("\n\n")}`);
  if (summary) above.push("conversation");
  if (above.length > 0) printed.push(requestFor(above.join(" and ")));
  return `${opening}${printed.join("\n\n")}${closing}`;
}

/** Budgets count this day in the prompt, so that no day shows less than another. */
const countedDay = "2026-11-28";
const countedBefore = "2026-11-25";

/** Of the whole block without the conversation, if it shows `memories` and omits so many. */
export function blockTokens(
  found: Recalled,
  memories: readonly ShownMemory[] = withoutTold(shownIn(found.memories), found.changes),
  omitted = found.memories.omitted,
): number {
  const sections = sectionsOf({ ...found, memories }, found);
  const block = { memories: { ...found.memories, omitted }, summary: null, omitted: null };
  const days = found.days.map((): DayOf => ["", countedBefore]);
  return estimateTokens(printBlock(block, sections, { day: countedDay, days }) ?? "");
}

/** Notes have longer beginnings, which are counted with them. */
export function headingTokens(section: MemorySection): number {
  const isNotes = section === "notes" || section === "operators";
  return isNotes ? 0 : lineTokens(`\n${sectionHeadings[section]}`);
}

/** What was said on another day has "tomorrow" and "last week" of that day. */
function dayLine(day: string, leftOn?: string): string {
  const line = `Today is ${fullDay(day)}.`;
  if (leftOn === undefined || leftOn === day) return line;
  return `${line}\nBefore today, this conversation was last continued on ${fullDay(leftOn)}.`;
}

const opening = "<memory>\n";
const blockHeading = (day: string, leftOn?: string) =>
  `# Long-term Memory\n${dayLine(day, leftOn)}\n${memoryPreface}`;
const requestFor = (above: string) => `Answer consistently using the ${above} above.`;
const closing = "\n</memory>";

/** Of a block around its sections. */
export const frameBytes =
  bytesPerToken *
  readTokens(`${opening}${blockHeading(countedDay)}\n\n${requestFor("memory")}${closing}`).tokens;

type Summary = NonNullable<Recalled["summary"]>;

function summarySection(summary: Summary): string {
  // A greeting before the first turn belongs to it.
  const [first, last] = [summary.startTurn, summary.endTurn].map((turn) => Math.max(1, turn));
  return `[Summary of Round ${first}-${last}]:\n${summaryText(summary)}`;
}

function summaryText({ text }: Summary): string {
  return contained(withoutHeadings(text));
}
