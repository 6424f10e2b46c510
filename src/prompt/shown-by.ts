import type { AIMessage, BaseMessage, MessageContent, ToolMessage } from "@langchain/core/messages";
import { isDoubt } from "../memories/audit/memory-change.js";
import { bestSimilarity } from "../memories/item/memory.js";
import { opensTurn } from "../messages/inserted-message.js";
import { type MessageRole, roleOf } from "../messages/message-text.js";
import type { ScoreParts } from "../search/rank-memories.rule.js";
import { redactedCheck } from "../transcript/message-words.js";
import { withStorableId } from "../transcript/record.js";
import {
  blockParts,
  type HandedOn,
  maxTalk,
  type ScoreSignal,
  type ShownContext,
  type ShownNews,
} from "../transcript/shown-turns.js";
import { planPrompt } from "./memory-block.js";
import { type Additions, ofPart, type Recalled, type ShownMemory, shownIn } from "./recalled.js";

/** What a turn was shown, for `remember`: counts as seen and, except fallback memories, as used. */
export function shownBy(recalled: Recalled): ShownContext {
  const { memories, changes, summary, epoch } = recalled;
  const { recallMs } = epoch;
  const { block, hasMemories, own } = planPrompt(recalled);
  // The block is stored by the turn that opens the epoch.
  const printed = epoch.isNew ? [...block.memories, ...own.memories] : own.memories;
  const parts = idsOf(printed);
  const used = idsOf(shownIn({ ...memories, rest: [] }));
  const memoryIds = new Set(Object.values(used).flat());
  if (!epoch.isNew) for (const id of Object.values(parts).flat()) memoryIds.add(id);
  const told = changes.top.filter(
    ({ event }) => event !== "deleted" && event !== "soft_deleted" && !isDoubt(event),
  );
  const found = [...memories.relevant, ...memories.episodes];
  const dated = epoch.isNew && hasMemories ? recalled : own;
  const news = newsOf(own, dated, printed);
  return {
    revision: changes.revision,
    memoryIds: [...memoryIds],
    parts: { ...parts, told: told.map(({ memoryId }) => memoryId) },
    scores: Object.fromEntries(found.map(({ memory: { id }, score }) => [id, score])),
    scoreParts: Object.fromEntries(
      found.map(({ memory: { id }, parts }) => [id, signalsOf(parts)]),
    ),
    similarity: bestSimilarity(found),
    ...(recallMs !== undefined && { recallMs }),
    summaryId: summary?.id ?? null,
    omitted: memories.omitted,
    readable: [...epoch.readable],
    ...(epoch.isNew && { firstSeq: epoch.firstSeq }),
    ...(news && { news }),
    ...(epoch.handed?.noted && { handed: epoch.handed.noted }),
  };
}

/** The parts that are not 0, in steps of 0.001. */
function signalsOf(parts: ScoreParts): Partial<Record<ScoreSignal, number>> {
  const rounded = Object.entries(parts).map(
    ([name, part]) => [name, Math.round(part * 1_000)] as const,
  );
  return Object.fromEntries(
    rounded.filter(([, steps]) => steps !== 0).map(([name, steps]) => [name, steps / 1_000]),
  );
}

function idsOf(shown: readonly ShownMemory[]) {
  return Object.fromEntries(
    blockParts.map((part) => [part, ofPart(shown, part).map(({ id }) => id)] as const),
  );
}

/** Undefined if the turn was told nothing beside memories. */
function newsOf(
  { changes: { since, count, top }, consents, unread, omitted }: Additions,
  { day, days }: Pick<Additions, "day" | "days">,
  printed: readonly ShownMemory[],
): ShownNews | undefined {
  const news: ShownNews = {};
  if (top.length > 0) {
    news.since = since;
    news.count = count;
    news.changes = top.map(({ rev, event, insteadId }) => [rev, event, insteadId]);
  }
  if (consents.length > 0) news.consents = consents.map(({ id, currentId }) => [id, currentId]);
  if (unread.length > 0) news.unread = unread.map(({ place: [ref, seq] }) => [ref, seq]);
  const doubts: [string, string][] = [];
  for (const { memory } of printed)
    if (memory.doubtedAt !== null) doubts.push([memory.id, memory.doubtedAt.toISOString()]);
  if (doubts.length > 0) news.doubts = doubts;
  if (omitted > 0) news.omitted = omitted;
  if (day !== null) news.day = day;
  if (day !== null && days.length > 0)
    news.days = days.map(([messageId, said]) => [messageId, said]);
  return Object.keys(news).length === 0 ? undefined : news;
}

// How its prompt was printed.

/** A message of a prompt, as chat models take it. */
export interface HandedMessage {
  readonly role: MessageRole;
  readonly content: MessageContent;
  readonly name?: string;
  readonly tool_calls?: readonly {
    readonly id?: string | undefined;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  }[];
  readonly tool_call_id?: string;
}

/** What a model is given of `message`. */
export function handedForm(message: BaseMessage): HandedMessage {
  const { tool_calls: calls = [] } = message as Partial<AIMessage>;
  const { tool_call_id } = message as Partial<ToolMessage>;
  return {
    role: roleOf(message),
    content: message.content,
    ...(message.name !== undefined && { name: message.name }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, args }) => ({ id, name, args })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
}

/** Two hexadecimal digits: a checksum of 8 bits shows most changes, and reveals no words. */
export const messageCheck = (message: BaseMessage): string =>
  (folded(JSON.stringify(handedForm(message))) & 0xff).toString(16).padStart(2, "0");

/** 15 bits, of what memory adds to a conversation. */
const textsCheck = (texts: readonly string[]): number =>
  folded(JSON.stringify(texts.map((text) => text.trimEnd()))) & 0x7fff;

/** The last bits of FNV-1a alone are those of a weaker sum. */
function folded(text: string): number {
  const check = redactedCheck(text);
  return check ^ (check >>> 15);
}

interface Printed {
  /** The conversation, before calls without a result got one. */
  readonly talk: readonly BaseMessage[];
  readonly isSaid: (message: BaseMessage) => boolean;
  readonly injectAs: HandedOn["injectAs"];
  /** What memory added to it, in order. */
  readonly printed: readonly string[];
}

/** A run calls its model several times: the first prompt counts. */
export function noteHanded(recalled: Recalled, printing: Printed): void {
  const { epoch, recent, shortened, memories, omitted, edited = [], timeZone } = recalled;
  const { handed, openedBy } = epoch;
  if (!handed || handed.noted) return;
  const talk = printing.talk.slice(0, printing.talk.findLastIndex(opensTurn) + 1);
  if (talk.length > maxTalk) return;
  const ids = new Set(shortened.length === 0 ? [] : recent.map(({ id }) => id));
  const cut = talk.flatMap(({ id }, place) => (ids.has(id) ? place : []));
  const editedIds = edited.flatMap(({ id }) => id ?? []);
  handed.noted = {
    injectAs: printing.injectAs,
    timeZone,
    talk: talkPlaces(talk, handed.seqs, printing.isSaid),
    ...(handed.hasChecks && { checks: talk.map(messageCheck).join("") }),
    check: textsCheck(printing.printed),
    ...(cut.length > 0 && {
      shortened: [cut[0] as number, Number(cut.at(-1)) - Number(cut[0]) + 1, handed.shortenedTo],
    }),
    ...(openedBy !== undefined && { openedBy }),
    ...(editedIds.length > 0 && { edited: editedIds }),
    ...(omitted && { omittedMessages: omitted.messages }),
    ...(memories.omittedAtLeast && { omittedAtLeast: true }),
    ...(memories.cut && { cut: [...memories.cut] as [string, number] }),
  };
}

/** Runs of seqs; ids of messages that the transcript lacks; null for one without an id. */
function talkPlaces(
  talk: readonly BaseMessage[],
  seqs: ReadonlyMap<string, number>,
  isSaid: Printed["isSaid"],
): HandedOn["talk"] {
  const places: HandedOn["talk"] = [];
  for (const message of talk) {
    const { id = "" } = message;
    const seq = seqs.get(id);
    // As it will be recorded: clients choose the ids in a graph's state.
    const recordedId = withStorableId(message).id ?? null;
    const last = places.at(-1);
    if (seq === undefined) places.push(id === "" ? null : recordedId);
    else if (Array.isArray(last) && last[1] === seq - 1 && (last.length === 3) === isSaid(message))
      last[1] = seq;
    else places.push(isSaid(message) ? [seq, seq, "held"] : [seq, seq]);
  }
  return places;
}
