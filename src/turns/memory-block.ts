import { memoryPreface } from "../conversation/recalled-mark.js";
import { contained, withoutHeadings } from "../text/contained-text.js";
import { bytesPerToken, readTokens } from "../text/estimate-tokens.js";
import {
  type MemorySection,
  planPrompt,
  sectionHeadings,
  sectionsOf,
  withoutTold,
} from "./prompt-plan.js";
import type { Recalled } from "./recalled.js";

/**
 * All memories as one text, also what earlier turns of the epoch were shown; null if there are
 * none.
 */
export function memoryBlock(recalled: Recalled): string | null {
  const { changes, day, epoch } = recalled;
  const others = [epoch.added, ...epoch.earlier.map(({ memories }) => memories)];
  const memories = withoutTold(recalled.memories, changes);
  return printBlock(recalled, sectionsOf({ ...recalled, memories }, recalled, others), day);
}

/** What a turn's prompt has of memory. */
export interface PrintedPrompt {
  /** The epoch's block: profile, fallback memories, notes and summary. */
  readonly block: string | null;
  /** The same, as it stands before a user's message. */
  readonly context: string;
  /**
   * What each turn of the epoch adds before its user's message, by message id; undefined for the
   * current one.
   */
  readonly additions: ReadonlyMap<string | undefined, string>;
}

export function printPrompt(recalled: Recalled): PrintedPrompt {
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
    : (text ?? "").slice(openingAlone.length, -closing.length);
  // A bracket and an empty line end it, so it contains none.
  const context = `[Previous context: ${inner.replace(/\]\s*\n\s*/g, "]\n")}]\n\n`;
  return { block: text, context, additions };
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

const dayFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });

const dayLine = (day: string): string => `Today is ${dayFormat.format(new Date(`${day}T00:00Z`))}.`;

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
