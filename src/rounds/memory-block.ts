import type { BaseMessage } from "@langchain/core/messages";
import { isoDay } from "../clock.js";
import { consentLines } from "../consents/consent-lines.rule.js";
import { bearsMark, memoryPreface, saidMessage } from "../conversation/recalled-mark.js";
import { type ShownPart, type ShownRound, shownParts } from "../conversation/shown-turns.js";
import { deltaHeader } from "../memories/changes/change-line.js";
import { bestSimilarity, type MemoryItem, unverified } from "../memories/item/memory.js";
import { contained, withoutHeadings } from "../text/contained-text.js";
import { messageText } from "../text/message-text.js";
import { headAtWord, onOneLine } from "../text/storable-text.js";
import { partOf, type Recalled } from "./recalled.js";

/** What the memory block ends with. */
const memoryRequest = "Answer consistently using the memory and conversation above.";

/** Characters of an episode that are shown; all of it is found by `memory.query`. */
const episodeCharacters = 150;

/**
 * What recall found as text for the prompt, or null when there is nothing to say: how to use it, delta header, profile,
 * what nobody vouches for, relevant memories and episodes, what else is known, app notes, how much is left out; then the
 * conversation, of which the summary stands here and the messages follow.
 *
 * The block is delimited, and nothing remembered can close it or look like a part of it.
 *
 * @param appName what the app's notes are headed with.
 */
export function memoryBlock(recalled: Recalled, appName?: string): string | null {
  const sections = [
    delta(recalled),
    profile(recalled),
    unvouched(recalled),
    context(recalled),
    others(recalled),
    notes(recalled, appName),
    consents(recalled),
  ].filter((section) => section !== null);
  if (sections.length === 0 && !recalled.summary && !recalled.leftOut) return null;
  if (sections.length > 0) sections.push(...notShown(recalled));
  const told = [recalled.summary && summary(recalled.summary), recalled.leftOut && leftOut(recalled.leftOut)];
  const conversation = [
    "# Recent Conversation",
    ...told.flatMap((part) => (part ? [part, ""] : [])),
    memoryRequest,
  ];
  const parts = [`# Long-term Memory\n${memoryPreface}`, ...sections, conversation.join("\n")];
  return `<memory>\n${parts.join("\n\n")}\n</memory>`;
}

/** The same for the front of a user's message: a summary stands there alone, and all else without the delimiters. */
function previousContext(recalled: Recalled): string {
  const memories = memoryBlock({ ...recalled, summary: null, leftOut: null });
  if (memories === null && recalled.summary && !recalled.leftOut) return summaryText(recalled.summary);
  return (memoryBlock(recalled) ?? "").replace(/^<memory>\n|\n<\/memory>$/g, "");
}

function delta({ changes }: Recalled): string | null {
  const top = changes.top.map((change) => ({ ...change, line: oneLine(change.line) }));
  return deltaHeader({ ...changes, top });
}

function profile({ memories }: Recalled): string | null {
  const lines = memories.profile.filter((memory) => unverified(memory) === null).map(slotLine);
  return lines.length === 0 ? null : ["## User Profile", ...lines].join("\n");
}

/** What would stand in the profile, had anybody vouched for it. */
function unvouched({ memories }: Recalled): string | null {
  const lines = memories.profile.filter((memory) => unverified(memory) !== null).map(slotLine);
  return lines.length === 0 ? null : ["## Unverified", ...lines].join("\n");
}

function slotLine(memory: MemoryItem): string {
  const { key, value, text } = memory;
  return item(memory, key !== null && value !== null ? `${key}: ${value}` : text);
}

function labelled(memory: MemoryItem): string {
  return item(memory, `[${memory.category}] ${memory.text}`);
}

function episodeLine(memory: MemoryItem): string {
  const turns = memory.turns ? `turns ${memory.turns.start}-${memory.turns.end}: ` : "";
  return item(memory, `${turns}${beginning(memory.text)}`);
}

function context({ memories }: Recalled): string | null {
  const { relevant, episodes, related } = memories;
  const lines = [
    ...relevant.map(({ memory }) => labelled(memory)),
    ...related.map(labelled),
    ...episodes.map(({ memory }) => episodeLine(memory)),
  ];
  return lines.length === 0 ? null : ["## Recent Context", ...lines].join("\n");
}

/** What fits no question in particular. */
function others({ memories }: Recalled): string | null {
  return memories.rest.length === 0 ? null : ["## Also Known", ...memories.rest.map(labelled)].join("\n");
}

/** What there is no room for. Not every agent has a tool to ask for it with. */
function notShown({ memories: { leftOut: count, leftOutAtLeast } }: Recalled): string[] {
  if (count === 0 && !leftOutAtLeast) return [];
  const one = count === 1 && !leftOutAtLeast;
  const number = count === 0 ? "Some" : leftOutAtLeast ? `More than ${count}` : `And ${count}`;
  return [
    `(${number} more ${one ? "memory is" : "memories are"} not shown here. If you have a tool to search memory, it finds them.)`,
  ];
}

/** What a memory adds to the block: its line, and the section that this stands in. */
export function memoryLine(
  part: ShownPart,
  memory: MemoryItem,
  place: number,
): { readonly section: string; readonly line: string } {
  if (part === "profile")
    return { section: unverified(memory) === null ? part : "unverified", line: slotLine(memory) };
  if (part === "notes") return { section: part, line: noteLine(memory, place) };
  const line = part === "episodes" ? episodeLine(memory) : labelled(memory);
  return { section: part === "rest" ? part : "context", line };
}

function notes({ memories }: Recalled, appName: string | undefined): string | null {
  const [first] = memories.notes;
  if (!first) return null;
  const numbered = memories.notes.map(noteLine);
  return [
    `(memories for app: ${oneLine(appName ?? first.scope.appId ?? "")})`,
    "The following are memories from previous conversations with this app:",
    "",
    ...numbered,
    "",
    "Use these memories to provide context-aware responses.",
  ].join("\n");
}

function noteLine(note: MemoryItem, index: number): string {
  return `${index + 1}. [Created: ${isoDay(note.createdAt)}] ${withTrust(note, note.text)}`;
}

function consents({ consents: waiting }: Recalled): string | null {
  if (waiting.length === 0) return null;
  return [
    "## Waiting for the User's Consent",
    "None of this is known until the user agrees. Where it fits, ask about it. With a tool for consent, call it only " +
      "when the user plainly said yes or no to one of these:",
    ...consentLines(waiting).map((line) => `- ${oneLine(line)}`),
  ].join("\n");
}

type Summary = NonNullable<Recalled["summary"]>;

function summary(found: Summary): string {
  // A greeting before the first round belongs to it.
  const [first, last] = [found.startRound, found.endRound].map((round) => Math.max(1, round));
  return `[Summary of Round ${first}-${last}]:\n${summaryText(found)}`;
}

/** What is said of messages that are not shown, so that an agent does not take the beginning for what it sees. */
function leftOut({ messages }: NonNullable<Recalled["leftOut"]>): string {
  return (
    `[${messages.toLocaleString("en")} earlier messages are not shown: they are too many, and no summary has them. ` +
    "They are kept, and a search of the transcript finds them.]"
  );
}

function summaryText({ text }: Summary): string {
  return contained(withoutHeadings(text));
}

/** `text` cut after the last whole word of what is shown of an episode. */
function beginning(text: string): string {
  const line = onOneLine(text);
  return line.length <= episodeCharacters ? line : `${headAtWord(line, episodeCharacters)}...`;
}

/** Lines as they were last written: a block is written several times before it is known to fit. */
const writtenLines = new WeakMap<MemoryItem, { readonly words: string; readonly line: string }>();

function item(memory: MemoryItem, words: string): string {
  const known = writtenLines.get(memory);
  if (known?.words === words) return known.line;
  const line = `- ${withTrust(memory, words)}`;
  writtenLines.set(memory, { words, line });
  return line;
}

/** The words of a memory, with what is to be said of them where nobody vouches for it. */
function withTrust(memory: MemoryItem, words: string): string {
  const doubt = unverified(memory);
  return doubt === null ? oneLine(words) : `${oneLine(words)} (${doubt})`;
}

/** One memory is one line: it cannot look like a heading or another section. */
function oneLine(text: string): string {
  return contained(onOneLine(text));
}

/**
 * What a round was shown of memory, for `remember`: then it counts as seen, and `threads.shown` tells of it. What only
 * fills the block does not count as used.
 */
export function shownBy(recalled: Recalled): ShownRound {
  const { memories, changes, summary } = recalled;
  const parts = Object.fromEntries(
    shownParts.map((part) => [part, partOf(memories, part).map(({ id }) => id)] as const),
  );
  const { rest: _, ...used } = parts;
  return {
    ...{ revision: changes.revision, memoryIds: Object.values(used).flat(), parts },
    similarity: bestSimilarity([...memories.relevant, ...memories.episodes]),
    ...{ summaryId: summary?.id ?? null, leftOut: memories.leftOut },
    block: recalled.traced ? memoryBlock(recalled) : null,
  };
}

/** What memory puts in front of a user's message. A bracket and an empty line end it, so it holds none itself. */
export function contextPrefix(recalled: Recalled): string {
  return `[Previous context: ${previousContext(recalled).replace(/\]\s*\n\s*/g, "]\n")}]\n\n`;
}

/**
 * The same for a message in a graph's state; null also for one of the transcript that a node put there. A user's words are changed only where memory was surely put into them: they
 * bear a mark, or begin with what this round was shown.
 */
export function saidInState(message: BaseMessage, recalled: Recalled | null | undefined): BaseMessage | null {
  if (message.id !== undefined && recalled?.brought?.includes(message.id)) return null;
  const isUsers = message.getType() === "human" && !bearsMark(message);
  if (isUsers && !(recalled && messageText(message).startsWith(contextPrefix(recalled)))) return message;
  return saidMessage(message);
}
