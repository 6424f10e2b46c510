import { categoryRoom } from "../memories/item/category.rule.js";
import { type MemoryItem, ranksLast } from "../memories/item/memory.js";
import { minSimilarity } from "../models/unrelated-similarity.rule.js";
import {
  type MemoryCandidate,
  type RankedHit,
  rankMemories,
  withRelated,
} from "../search/rank-memories.rule.js";
import type { EmbeddedQuestion } from "../search/read-question.js";
import { rerank } from "../search/rerank.js";
import type { RetrievalOptions, SearchRuntime } from "../search/retrieval-options.js";
import type { RecallResult } from "./find-recall.js";
import { lineOf, lineTokens } from "./memory-block.js";
import {
  asShown,
  type EarlierAdditions,
  inParts,
  type RecalledMemories,
  type ShownMemory,
  standingParts,
} from "./recalled.js";

/**
 * An open epoch keeps its block and adds new matches, and what is always shown and became known
 * since. `asked`: ids of matching profile memories, best first.
 */
export async function selectMemories(
  deps: SearchRuntime,
  question: EmbeddedQuestion,
  found: RecallResult,
) {
  const epoch = found.conversation?.epoch;
  if (!epoch) return { ...(await selectParts(deps, question, found)), ...ofNewEpoch };

  const { block, earlier, toldIds } = earlierInEpoch(found);
  const shownBefore = [...block, ...earlier.flatMap((turn) => turn.memories)];
  const before = shownBefore.map(({ memory }) => memory);
  const shownIds = new Set([...before.map(({ id }) => id), ...toldIds]);
  const isNew = ({ id }: MemoryItem) => !shownIds.has(id);
  const added = {
    profile: found.profile.filter(isNew),
    notes: found.notes.filter(isNew),
    omitted: 0,
  };
  // Passed as always shown, so that they count against a category's length and are not chosen again.
  const told = toldIds.flatMap((id) => found.shown.get(id) ?? []);
  const always = new Set(found.profile.map(({ id }) => id));
  const { memories } = await selectParts(deps, question, {
    ...found,
    profile: [...before, ...told, ...added.profile],
    rest: [],
    notes: [],
  });
  const { profile, rest, notes } = inParts(block);
  const standing = { profile, rest, notes, omitted: epoch.omitted };
  return {
    memories: { ...memories, ...standing },
    asked: [],
    earlier,
    told: told.map((memory): ShownMemory => {
      return { part: always.has(memory.id) ? "profile" : "rest", memory };
    }),
    added,
  };
}

const ofNewEpoch = { earlier: [], told: [], added: { profile: [], notes: [], omitted: 0 } };

/** A category's `rag_length` goes to pinned memories, then to matches. */
async function selectParts(deps: SearchRuntime, question: EmbeddedQuestion, found: RecallResult) {
  const { retrieval, policy } = deps.config;
  const always = new Set(found.profile.map(({ id }) => id));
  const fit = found.broad ? [] : fittingHits(deps, question, found.candidates);
  const hits = (await rerank(deps, question, fit, always)).toSorted(
    (first, second) => Number(ranksLast(first.memory)) - Number(ranksLast(second.memory)),
  );
  const pinned = new Set(found.profile.filter((memory) => memory.pinned).map(({ id }) => id));
  // Each call counts the memory against its category; pinned ones first.
  const takeRoom = categoryRoom(policy);
  for (const memory of found.profile) if (memory.pinned) takeRoom(memory);
  const hasRoom = (memory: MemoryItem) => pinned.has(memory.id) || takeRoom(memory);
  const { asked, relevant, episodes } = chooseHits(retrieval, hits, always, hasRoom);
  const hitIds = new Set(hits.map(({ memory }) => memory.id));
  const profile = found.profile.filter((memory) =>
    hitIds.has(memory.id) ? asked.includes(memory.id) : hasRoom(memory),
  );
  const chosen = [...relevant, ...episodes].map(({ memory }) => memory);
  const linked = withRelated(relevant, found.candidates, [...found.profile, ...chosen]);
  const related = linked
    .flatMap((hit) => hit.related ?? [])
    .toSorted((first, second) => Number(ranksLast(first)) - Number(ranksLast(second)))
    .filter(hasRoom);
  const shownIds = new Set([...chosen, ...related].map(({ id }) => id));
  const others = found.rest.filter((memory) => !shownIds.has(memory.id) && hasRoom(memory));
  // A broad question asks for all there is.
  const rest = found.broad ? others : headWithin(others, retrieval);
  // `knownCount` counts facts, insights and pinned episodes.
  const counted = [...profile, ...chosen, ...related, ...rest].filter(
    ({ kind, pinned }) => kind === "fact" || kind === "insight" || (pinned && kind === "episode"),
  );
  const memories: RecalledMemories = {
    profile,
    relevant,
    episodes,
    related,
    rest,
    notes: found.notes.filter(hasRoom),
    omitted: Math.max(0, found.knownCount - counted.length),
    ...(found.knownCut && { omittedAtLeast: true }),
  };
  return { memories, asked };
}

/** As many of `hits` as fit: those that are always shown by id, matches, and episodes. */
function chooseHits(
  { topK, topEpisodes }: RetrievalOptions,
  hits: readonly RankedHit[],
  always: ReadonlySet<string>,
  hasRoom: (memory: MemoryItem) => boolean,
) {
  const asked: string[] = [];
  const relevant: RankedHit[] = [];
  const episodes: RankedHit[] = [];
  for (const hit of hits) {
    const { memory } = hit;
    if (always.has(memory.id)) {
      if (hasRoom(memory)) asked.push(memory.id);
    } else if (memory.kind === "episode") {
      if (episodes.length < topEpisodes && hasRoom(memory)) episodes.push(hit);
    } else if (relevant.length < topK && hasRoom(memory)) relevant.push(hit);
  }
  return { asked, relevant, episodes };
}

/** The first of `memories`, up to `fallbackTokens`, without those that are too long. */
function headWithin(
  memories: readonly MemoryItem[],
  { fallbackTokens, timeZone }: RetrievalOptions,
): MemoryItem[] {
  let left = fallbackTokens;
  return memories.filter((memory) => {
    const tokens = lineTokens(lineOf("rest", memory, 0, timeZone));
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}

/** Episodes need no word of a question that they are near enough to by their vectors. */
function fittingHits(
  { config, clock }: SearchRuntime,
  asked: EmbeddedQuestion,
  candidates: readonly MemoryCandidate[],
): RankedHit[] {
  const { threshold, maxEpisodeDistance } = config.retrieval;
  const leastEpisode =
    maxEpisodeDistance === undefined
      ? minSimilarity(asked.vector?.space ?? null, "episode")
      : 1 - maxEpisodeDistance;
  const near: MemoryCandidate[] = [];
  const others: MemoryCandidate[] = [];
  for (const candidate of candidates) {
    const { memory, cosine } = candidate;
    if (memory.kind !== "episode") others.push(candidate);
    else if (cosine !== null && cosine >= leastEpisode) near.push(candidate);
    // More distant episodes are found by their words alone.
    else others.push({ ...candidate, cosine: null });
  }
  const question = { ...asked, now: clock(), threshold };
  const found = rankMemories(others, question);
  const isEpisode = ({ memory }: RankedHit) => memory.kind === "episode";
  const episodes = [
    ...found.filter(isEpisode),
    ...rankMemories(near, { ...question, threshold: threshold ?? 0 }),
  ].toSorted((first, second) => second.score - first.score);
  return [...found.filter((hit) => !isEpisode(hit)), ...episodes];
}

/** What the epoch showed before: its block, and what each turn added to it. */
function earlierInEpoch({ conversation, shown, told }: RecallResult) {
  const lines = conversation?.epoch?.lines ?? [];
  const openedBy = lines[0]?.[0];
  const block: ShownMemory[] = [];
  const toldIds: string[] = [];
  // In the order of the conversation, whatever they added.
  const turns = new Map(lines.map(([messageId]) => [messageId, [] as ShownMemory[]]));
  for (const [messageId, id, part] of lines) {
    const found = shown.get(id ?? "");
    if (found === undefined || part === null) continue;
    // Its line stays as it was shown; that it got into doubt since is added.
    const turn = told.find((each) => each.messageId === messageId);
    const memory = asShown(found, turn?.news);
    if (part === "told") toldIds.push(memory.id);
    else if (messageId === openedBy && standingParts.includes(part)) block.push({ part, memory });
    else turns.get(messageId)?.push({ part, memory });
  }
  const earlier = [...turns].map(([messageId, memories]): EarlierAdditions => {
    const turn = told.find((each) => each.messageId === messageId);
    const { changes: top = [], consents = [], unread = [], news } = turn ?? {};
    const { since = 0, count = 0, omitted = 0, day = null, days = [] } = news ?? {};
    const changes = { since, revision: since, count, top };
    return { messageId, memories, changes, consents, unread, omitted, day, days };
  });
  return { block, earlier, toldIds };
}

/** Whether something that the epoch told has been deleted since: a prompt could not repeat it. */
export function isNewsGone({ told }: Pick<RecallResult, "told">): boolean {
  return told.some(
    ({ news, changes, consents, unread }) =>
      changes.length < (news.changes?.length ?? 0) ||
      consents.length < (news.consents?.length ?? 0) ||
      unread.length < (news.unread?.length ?? 0),
  );
}
