import { isDoubt } from "../memories/audit/memory-change.js";
import { bestSimilarity } from "../memories/item/memory.js";
import type { ScoreParts } from "../search/rank-memories.rule.js";
import {
  blockParts,
  type HandedOn,
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
  const news = newsOf(own, epoch.isNew && hasMemories ? recalled.day : own.day, printed);
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
    ...(epoch.handed?.noted && { handed: handedOf(recalled, epoch.handed.noted) }),
  };
}

/** How the prompt was printed. */
function handedOf(
  { epoch, memories, omitted, edited = [], timeZone }: Recalled,
  noted: NonNullable<NonNullable<Recalled["epoch"]["handed"]>["noted"]>,
): HandedOn {
  const editedIds = edited.flatMap(({ id }) => id ?? []);
  return {
    ...noted,
    timeZone,
    ...(epoch.openedBy !== undefined && { openedBy: epoch.openedBy }),
    ...(editedIds.length > 0 && { edited: editedIds }),
    ...(omitted && { omittedMessages: omitted.messages }),
    ...(memories.omittedAtLeast && { omittedAtLeast: true as const }),
    ...(memories.cut && { cut: [...memories.cut] as [string, number] }),
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
  day: string | null,
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
  return Object.keys(news).length === 0 ? undefined : news;
}
