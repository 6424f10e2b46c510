import type { BaseMessage } from "@langchain/core/messages";
import { consentLines } from "../consents/consent-lines.rule.js";
import {
  hasMark,
  isMemoryBlock,
  memoryPreface,
  saidMessage,
} from "../conversation/recalled-mark.js";
import { blockParts, type ShownContext, type ShownNews } from "../conversation/shown-turns.js";
import { type ChangeEvent, deltaHeader } from "../memories/changes/change-line.js";
import { bestSimilarity } from "../memories/item/memory.js";
import { noteBlock } from "../notes/note-block.rule.js";
import { nearStatements } from "../search/near-statements.rule.js";
import { contained, containedLine, withoutHeadings } from "../text/contained-text.js";
import { bytesPerToken, readTokens } from "../text/estimate-tokens.js";
import { messageText } from "../text/message-text.js";
import { clipped } from "../text/storable-text.js";
import {
  lineOf,
  type MemoryLine,
  type MemorySection,
  sectionHeadings,
  sectionOf,
} from "./memory-lines.js";
import {
  type Additions,
  durations,
  partOf,
  type Recalled,
  type RecalledChanges,
  type ShownMemories,
  withoutTold,
} from "./recalled.js";

/**
 * All memories as one text, also what earlier turns of the epoch were shown; null if there are
 * none.
 */
export function memoryBlock(recalled: Recalled): string | null {
  const { earlier, added } = recalled.epoch;
  return blockOf(withoutRepeats(recalled), [added, ...earlier.map(({ memories }) => memories)]);
}

function withoutRepeats(recalled: Recalled): Recalled {
  return { ...recalled, memories: withoutTold(recalled.memories, recalled.changes) };
}

/** The epoch's block: profile, fallback memories, notes and summary. */
export function standingBlock(recalled: Recalled): string | null {
  const { changes } = recalled;
  const { memories } = withoutRepeats(recalled);
  return blockOf({
    ...recalled,
    memories: { ...memories, relevant: [], episodes: [], related: [] },
    changes: { ...changes, count: 0, top: [] },
    consents: [],
    unread: [],
    day: openingDay(recalled),
  });
}

/** The day that the block names: it stays, whatever day it becomes. */
function openingDay({ epoch, day }: Recalled): string {
  return epoch.isNew ? day : (epoch.earlier.find((turn) => turn.day !== null)?.day ?? day);
}

/**
 * What each turn of the epoch adds before its user's message, by message id; undefined for the
 * current one.
 */
export function additionsOf(recalled: Recalled, block = standingBlock(recalled)) {
  const { earlier, openedBy, isNew } = recalled.epoch;
  const own = { ...ownAdditions(recalled), messageId: undefined };
  const said = [...earlier, own].flatMap((turn) => {
    const isOpening = turn.messageId === openedBy || isNew;
    // The opening turn's day is in its block.
    const day = turn.day === null || (isOpening && namesDay(block)) ? [] : [dayLine(turn.day)];
    const sections = [...sectionsOf(turn, recalled), ...day];
    return sections.length === 0 ? [] : [{ messageId: turn.messageId, sections }];
  });
  return new Map(
    said.map(({ messageId, sections }, place) => {
      const preface = block === null && place === 0 ? [memoryPreface] : [];
      const text = [...preface, ...sections].join("\n\n");
      return [messageId, `${openingAlone}${text}${closing}\n\n`] as const;
    }),
  );
}

/** What the current turn adds: the day alone only where the prompt names an earlier one. */
function ownAdditions(recalled: Recalled): Additions {
  const { changes, consents, unread, epoch, day } = recalled;
  const { relevant, episodes, related } = withoutRepeats(recalled).memories;
  const named = epoch.isNew ? undefined : epoch.earlier.findLast((turn) => turn.day)?.day;
  const added = {
    memories: { ...epoch.added, relevant, episodes, related },
    changes,
    consents,
    unread,
    omitted: epoch.addedOmitted,
    day: day === named ? null : day,
  };
  return named === undefined && sectionsOf(added, recalled).length === 0
    ? { ...added, day: null }
    : added;
}

function sectionsOf(
  { memories, changes, consents, unread, omitted }: Additions,
  { appName, timeZone }: Pick<Recalled, "appName" | "timeZone">,
) {
  const notes = partOf(memories, "notes");
  const sections = [
    deltaOf(changes),
    ...listsOf(listedSections([memories], timeZone)),
    noteBlock(notes, appName ?? notes[0]?.scope.appId ?? "", timeZone),
    unreadSection(unread),
    consentSection(consents),
  ].flatMap((section) => section ?? []);
  return omitted === 0 ? sections : [...sections, omittedNotice(omitted)];
}

/** Delimited: no memory can close the block or imitate its parts. */
function blockOf(recalled: Recalled, others: readonly ShownMemories[] = []): string | null {
  const { changes, listed, after } = partsOf(recalled, others);
  const memories = [...changes, ...listsOf(listed), ...after];
  if (memories.length > 0) memories.push(...notShown(recalled));
  const conversation = [
    ...(recalled.summary ? [summary(recalled.summary)] : []),
    ...(recalled.omitted ? [omitted(recalled.omitted)] : []),
  ];
  if (memories.length + conversation.length === 0) return null;
  const above = [
    ...(memories.length > 0 ? ["memory"] : []),
    ...(recalled.summary ? ["conversation"] : []),
  ];
  const sections = [
    memories.length > 0
      ? `${opening}${dayLine(recalled.day)}\n${memoryPreface}`
      : `${openingAlone}${memoryPreface}`,
    ...memories,
    ...(conversation.length > 0 ? [`# Recent Conversation\n${conversation.join("\n\n")}`] : []),
    ...(above.length > 0 ? [requestFor(above.join(" and "))] : []),
  ];
  return sections.join("\n\n") + closing;
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "UTC" });

const dayLine = (day: string): string => `Today is ${dayFormat.format(new Date(`${day}T00:00Z`))}.`;

const namesDay = (block: string | null): boolean => block?.startsWith(opening) ?? false;

function listsOf(listed: ReturnType<typeof listedSections>): string[] {
  return listed.map(({ section, lines }) =>
    [sectionHeadings[section], ...lines.map(({ line }) => line)].join("\n"),
  );
}

/** Unrounded, without the conversation. @param most stops counting beyond it */
export function blockTokens(recalled: Recalled, most = Number.POSITIVE_INFINITY): number {
  const { changes, listed, after } = partsOf(withoutRepeats(recalled));
  const texts = [...changes, ...after];
  if (texts.length === 0 && listed.length === 0) return 0;
  let tokens = frameTokens;
  for (const text of texts) tokens += sectionTokens(text);
  for (const notice of notShown(recalled)) tokens += sectionTokens(notice);
  for (const { section, lines } of listed) {
    tokens += headingTokens(section);
    for (const line of lines) tokens += line.tokens;
    if (tokens > most) return tokens;
  }
  return tokens;
}

function sectionTokens(text: string): number {
  return readTokens(`\n\n${text}`).tokens;
}

const requestFor = (above: string) => `Answer consistently using the ${above} above.`;
const openingAlone = "<memory>\n";
const opening = `${openingAlone}# Long-term Memory\n`;
const closing = "\n</memory>";
const frameTokens =
  readTokens(`${opening}${dayLine("2026-11-28")}\n${memoryPreface}`).tokens +
  sectionTokens(requestFor("memory") + closing);
export const frameBytes = frameTokens * bytesPerToken;

/** Notes have longer beginnings, which are counted with them. */
export function headingTokens(section: MemorySection): number {
  return section === "notes" || section === "operators"
    ? 0
    : sectionTokens(sectionHeadings[section]);
}

function partsOf(recalled: Recalled, others: readonly ShownMemories[] = []) {
  const { memories, appName, timeZone } = recalled;
  const shown = [memories, ...others];
  const found = shown.flatMap((each) => partOf(each, "notes"));
  const notes = noteBlock(found, appName ?? found[0]?.scope.appId ?? "", timeZone);
  const present = (section: string | null) => (section === null ? [] : [section]);
  return {
    changes: present(deltaOf(recalled.changes)),
    listed: listedSections(shown, timeZone),
    after: [notes, unreadSection(recalled.unread), consentSection(recalled.consents)].flatMap(
      present,
    ),
  };
}

function deltaOf(changes: RecalledChanges): string | null {
  const top = changes.top.map((change) => ({ ...change, line: containedLine(change.line) }));
  return deltaHeader({ ...changes, top });
}

function listedSections(shown: readonly ShownMemories[], timeZone: string) {
  const lines: Record<MemorySection, MemoryLine[]> = {
    profile: [],
    unverified: [],
    fits: [],
    context: [],
    rest: [],
    notes: [],
    operators: [],
  };
  // A user and the user within an app may have the same memory.
  const written = new Set<string>();
  const statements = (memories: ShownMemories) =>
    (["relevant", "rest"] as const).flatMap((part) => partOf(memories, part));
  const near = nearStatements(shown.flatMap(statements));
  for (const part of ["profile", "relevant", "related", "episodes", "rest"] as const) {
    for (const memory of shown.flatMap((memories) => partOf(memories, part))) {
      const line = lineOf(part, memory, 0, timeZone, near.has(memory.id));
      if (!written.has(line.line)) lines[sectionOf(part, memory)].push(line);
      written.add(line.line);
    }
  }
  return headed.flatMap((section) =>
    lines[section].length === 0 ? [] : [{ section, lines: lines[section] }],
  );
}

const headed = ["profile", "unverified", "fits", "context", "rest"] as const;

/** A summary alone, else the block without its delimiters. */
function previousContext(recalled: Recalled): string {
  const memories = standingBlock({ ...recalled, summary: null, omitted: null });
  if (memories === null && recalled.summary && !recalled.omitted)
    return summaryText(recalled.summary);
  return (standingBlock(recalled) ?? "").replace(/^<memory>\n|\n<\/memory>$/g, "");
}

function notShown({ memories: { omitted: count, omittedAtLeast } }: Recalled): string[] {
  return count === 0 && !omittedAtLeast ? [] : [omittedNotice(count, omittedAtLeast)];
}

function omittedNotice(count: number, isLeast = false): string {
  const one = count === 1 && !isLeast;
  const number = count === 0 ? "Some" : isLeast ? `More than ${count}` : `And ${count}`;
  return `(${number} more ${one ? "memory is" : "memories are"} not shown here. If you have a tool to search memory, it finds them.)`;
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

type Summary = NonNullable<Recalled["summary"]>;

function summary(found: Summary): string {
  // A greeting before the first turn belongs to it.
  const [first, last] = [found.startTurn, found.endTurn].map((turn) => Math.max(1, turn));
  return `[Summary of Round ${first}-${last}]:\n${summaryText(found)}`;
}

/** Otherwise an agent takes the first message that it sees for the first one. */
function omitted({ messages }: NonNullable<Recalled["omitted"]>): string {
  return (
    `[${messages.toLocaleString("en")} earlier messages are not shown: they are too many, and no summary has them. ` +
    "They are kept, and a search of the transcript finds them.]"
  );
}

function summaryText({ text }: Summary): string {
  return contained(withoutHeadings(text));
}

/** What a turn was shown, for `remember`: counts as seen and, except fallback memories, as used. */
export function shownBy(recalled: Recalled): ShownContext {
  const { memories, changes, summary, epoch } = recalled;
  const additions = ownAdditions(recalled);
  const idsOf = (shown: ShownMemories) =>
    Object.fromEntries(
      blockParts.map((part) => [part, partOf(shown, part).map(({ id }) => id)] as const),
    );
  const { rest: _, ...used } = idsOf({ ...memories, ...(!epoch.isNew && { rest: [] }) });
  // The block was stored when the epoch opened.
  const added = idsOf(epoch.isNew ? withoutRepeats(recalled).memories : additions.memories);
  const parts = {
    ...added,
    told: changes.top.flatMap(({ event, memoryId }) => (isGone(event) ? [] : [memoryId])),
  };
  const news = newsOf(recalled, additions);
  const found = [...memories.relevant, ...memories.episodes];
  const recallMs = durations.get(recalled);
  return {
    revision: changes.revision,
    memoryIds: [
      ...new Set([...Object.values(used), ...(epoch.isNew ? [] : Object.values(added))].flat()),
    ],
    parts,
    scores: Object.fromEntries(found.map(({ memory: { id }, score }) => [id, score])),
    similarity: bestSimilarity(found),
    ...(recallMs !== undefined && { recallMs }),
    summaryId: summary?.id ?? null,
    omitted: memories.omitted,
    readable: epoch.readable,
    ...(epoch.isNew && { firstSeq: epoch.firstSeq }),
    ...(news && { news }),
  };
}

const isGone = (event: ChangeEvent): boolean => event === "deleted" || event === "soft_deleted";

/** Null if the turn was told nothing beside memories. */
function newsOf(recalled: Recalled, { changes, consents, unread, ...turn }: Additions) {
  const { top, since, count } = changes;
  const told: ShownNews = {
    ...(top.length > 0 && {
      since,
      count,
      changes: top.map(({ rev, event, insteadId }) => [rev, event, insteadId] as const),
    }),
    ...(consents.length > 0 && {
      consents: consents.map(({ id, currentId }) => [id, currentId] as const),
    }),
    ...(unread.length > 0 && { unread: unread.map(({ place }) => place) }),
    ...(turn.omitted > 0 && { omitted: turn.omitted }),
  };
  const isInBlock = recalled.epoch.isNew && namesDay(standingBlock(recalled));
  const day = isInBlock ? recalled.day : turn.day;
  const news = { ...told, ...(day !== null && { day }) };
  return Object.keys(news).length === 0 ? null : news;
}

const contextOpening = "[Previous context: ";

/**
 * What memory puts before a user's message. A bracket and an empty line end it, so it contains
 * none.
 */
export function contextPrefix(recalled: Recalled): string {
  return `${contextOpening}${previousContext(recalled).replace(/\]\s*\n\s*/g, "]\n")}]\n\n`;
}

/**
 * Null for recalled messages. Changes a user's words only after a mark, or after this turn's own
 * prefix.
 */
export function saidInState(
  message: BaseMessage,
  recalled: Recalled | null | undefined,
): BaseMessage | null {
  if (message.id !== undefined && recalled?.brought?.includes(message.id)) return null;
  if (isMemoryBlock(message)) return saidMessage(message);
  const isUsers = message.getType() === "human" && !hasMark(message);
  if (isUsers && !(recalled && beginsWithContext(messageText(message), recalled))) return message;
  return saidMessage(message);
}

/** Builds the prefix only if it may be there: that takes as long as a recall. */
function beginsWithContext(text: string, recalled: Recalled): boolean {
  if (text.startsWith(contextOpening)) return text.startsWith(contextPrefix(recalled));
  return (
    text.startsWith(openingAlone) &&
    [...additionsOf(recalled).values()].some((added) => text.startsWith(added))
  );
}
