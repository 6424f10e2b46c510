import { givesWay, type MemoryItem } from "../../memories/item/memory.js";
import type { MemoryCandidate } from "../memory-hits.js";
import type { HitSelection, SearchedVector } from "../memory-signals.js";
import { retrievalWeights as weights } from "../retrieval-options.js";
import { lookedAt, manyMemories, toldLinks } from "../search-limits.rule.js";
import type { WeightedTerm } from "../word-weights.rule.js";
import { type BestSlots, bestSlots, bestToFront, type RankedSlot } from "./best-slots.rule.js";
import type { HeldMemories } from "./held-memories.js";
import { microseconds, type WantedMemories } from "./memory-columns.js";
import {
  bestByWords,
  type Nearness,
  nearestSlots,
  nearnessTo,
  type SlotChoice,
  similarityAt,
} from "./slot-scores.js";

/** What messages say of memories. */
export interface SpokenSignals {
  /** How well the best messages fit that visible memories were learned from, by the memory's ref. */
  readonly sources: ReadonlyMap<number, number>;
  /** How well threads fit, by ref. */
  readonly threads: ReadonlyMap<number, number>;
  /** How many messages have any of the question's words, counted up to `lookedAt.matches` for each candidate. */
  readonly matched: number;
  /** The best of all visible memories by the messages that they were learned from. */
  readonly restSources: () => ReadonlyMap<number, number>;
}

/** Which of held memories a search looks for: it filters nothing beside. */
export interface HeldSelection
  extends Pick<HitSelection, "scope" | "kinds" | "categories" | "times" | "limit"> {
  /** Null without embeddings. */
  readonly vector: Pick<SearchedVector, "value" | "from"> | null;
  /** The database's time in milliseconds, with microseconds as their fraction. */
  readonly nowMs: number;
}

/** What a search of held memories goes by. */
export interface HeldSearch {
  /** Whose memories: the user's, the app's, or both. */
  readonly owners: readonly HeldMemories[];
  /** What is asked for, as it weighs among the memories of each of `owners` (see `weightedTerms`). */
  readonly terms: readonly WeightedTerm[];
  readonly messages: SpokenSignals;
  readonly selection: HeldSelection;
  /** As `questionNearness` has it, of owners that have not changed since. @default found anew */
  readonly nearness?: Nearness | null | undefined;
}

/** How near the question of `selection` is to the memories of `owners`; null without embeddings. */
export function questionNearness(
  owners: readonly HeldMemories[],
  { vector, limit }: Pick<HeldSelection, "vector" | "limit">,
): Nearness | null {
  if (vector === null) return null;
  const indexes = owners.map(({ index }) => index);
  return nearnessTo(indexes, vector.value, limit * lookedAt.nearest);
}

/** A memory by its place. */
type Place = Pick<RankedSlot, "owner" | "slot" | "ref">;

/** What speaks for a memory. */
interface Signals extends Place {
  lexical: number;
  source: number;
  similarity: number | null;
  boost: number;
}

/** Whether a memory, by its ref, is among those that a search may return. */
export function visibleIn(
  owners: readonly HeldMemories[],
  selection: HeldSelection,
): (ref: number) => boolean {
  const visible = owners.map((owner) => owner.visible(wantedBy(selection)));
  return (ref) => visible.some((isVisible) => isVisible(ref));
}

function wantedBy({ scope, kinds, categories, nowMs }: HeldSelection): WantedMemories {
  return { appId: scope.appId ?? "", kinds, categories, now: microseconds(nowMs) };
}

/**
 * The memories that may answer a question, in the order they were written: what the CTEs of `memoryHits` find, with the
 * same signals. Similarities may differ from PostgreSQL's by 1e-6, as products are summed up in another order.
 */
export function heldCandidates(search: HeldSearch): MemoryCandidate[] {
  const { owners, messages, selection } = search;
  const nearness = search.nearness ?? questionNearness(owners, selection);
  const visible = owners.map(({ index }) => index.columns.visible(wantedBy(selection)));
  const isVisible = (owner: number, slot: number) => (visible[owner] as (slot: number) => boolean)(slot);
  const found = foundSignals(search, nearness, isVisible);
  const chosen = chosenOf(found.signals, selection);
  const links = linksAmong(owners, chosen, isVisible);
  return chosen
    .sort((first, second) => first.ref - second.ref)
    .map((signals) => {
      const { owner, slot, ref, lexical, source } = signals;
      const { index, memoryOf } = owners[owner] as HeldMemories;
      const { relation, linked } = links(signals);
      return {
        memory: memoryOf(ref) as MemoryItem,
        lexical,
        source,
        relation,
        leastSimilarity: found.least,
        thread: messages.threads.get(index.columns.threads[slot] as number) ?? 0,
        similarity: nearness && similarityAt(nearness.similarities, signals),
        // Told of the best alone: of the others none is read.
        linked,
      };
    });
}

/** What speaks for each memory, and the least similarity of all visible memories, where those are many and none was cut off. */
function foundSignals(
  { owners, terms, messages, selection }: HeldSearch,
  nearness: Nearness | null,
  isVisible: (owner: number, slot: number) => boolean,
): { readonly signals: Iterable<Signals>; readonly least: number | null } {
  const { limit } = selection;
  const indexes = owners.map(({ index }) => index);
  const signals = new Map<number, Signals>();
  const signalsOf = ({ owner, slot, ref }: Place): Signals => {
    let made = signals.get(ref);
    if (made === undefined) {
      made = { owner, slot, ref, lexical: 0, source: 0, similarity: null, boost: 0 };
      signals.set(ref, made);
    }
    return made;
  };
  const matches = limit * lookedAt.matches;
  const byWords = withRest(bestByWords(indexes, terms, { most: matches }).top(), {
    ...{ most: matches, wanted: limit, isVisible },
    best: (choice) => bestByWords(indexes, terms, choice),
  });
  const near = withRest(nearness?.nearest ?? [], {
    ...{ most: limit * lookedAt.nearest, wanted: limit * lookedAt.nearestVisible, isVisible },
    best: (choice) => nearestSlots(indexes, nearness?.similarities ?? [], choice),
  });
  for (const memory of byWords.found) signalsOf(memory).lexical = memory.value;
  for (const memory of near.found) signalsOf(memory).similarity = memory.value;
  const scant = messages.sources.size < limit && messages.matched >= limit * lookedAt.matches;
  for (const sources of [messages.sources, ...(scant ? [messages.restSources()] : [])]) {
    for (const [ref, score] of sources) {
      const place = placeOf(owners, ref);
      if (!place) continue;
      const own = signalsOf(place);
      own.source = Math.max(own.source, score);
    }
  }
  for (const place of datedSlots(owners, selection, isVisible)) {
    const importance = owners[place.owner]?.index.columns.importance[place.slot] as number;
    signalsOf(place).boost = weights.date + (weights.importance * (importance - 1)) / 4;
  }
  addOthers(signals, "lexical", byWords.others);
  addOthers(signals, "similarity", near.others);
  return { signals: signals.values(), least: leastOf(near.found, limit * lookedAt.nearestVisible) };
}

/** Adds what a signal says of memories that others have found. */
function addOthers(
  found: ReadonlyMap<number, Signals>,
  signal: "lexical" | "similarity",
  others: readonly RankedSlot[],
): void {
  for (const { ref, value } of others) {
    const own = found.get(ref);
    if (own !== undefined) own[signal] = value;
  }
}

/** The least similarity of `near`, once each, where those are many and fewer than `most`; else null. */
function leastOf(near: readonly RankedSlot[], most: number): number | null {
  if (near.length < manyMemories) return null;
  const known = new Set(near.map(({ ref }) => ref)).size;
  if (known < manyMemories || known >= most) return null;
  return near.reduce((lowest, { value }) => Math.min(lowest, value), Number.POSITIVE_INFINITY);
}

/**
 * Of `top`, the `most` best by one signal, as many visible ones as are `wanted`. Where those are too few, though something
 * was cut off, all that is visible is gone through as well.
 */
function withRest(
  top: readonly RankedSlot[],
  {
    most,
    wanted,
    isVisible,
    best,
  }: {
    readonly most: number;
    readonly wanted: number;
    readonly isVisible: (owner: number, slot: number) => boolean;
    readonly best: (choice: SlotChoice) => BestSlots;
  },
) {
  const visible = top.filter(({ owner, slot }) => isVisible(owner, slot));
  if (visible.length > wanted) bestToFront(visible, wanted);
  const few = visible.length < wanted && top.length >= most;
  const rest = few ? best({ most: wanted, isWanted: isVisible }).top() : [];
  return {
    /** Those that are found by the signal; some may be there twice. */
    found: rest.length === 0 ? visible.slice(0, wanted) : [...visible.slice(0, wanted), ...rest],
    /** Those that the signal speaks for where another has found them. */
    others: visible.slice(wanted),
  };
}

function placeOf(owners: readonly HeldMemories[], ref: number): Place | null {
  for (const [owner, { index }] of owners.entries()) {
    const slot = index.slotOf(ref);
    if (slot !== undefined) return { owner, slot, ref };
  }
  return null;
}

/** The visible memories that hold since one of the times asked about. */
function datedSlots(
  owners: readonly HeldMemories[],
  { times }: HeldSelection,
  isVisible: (owner: number, slot: number) => boolean,
): Place[] {
  const spans = times.since.map((since, place) => ({
    from: microseconds(since.getTime()),
    before: microseconds((times.before[place] as Date).getTime()),
  }));
  if (spans.length === 0) return [];
  return owners.flatMap(({ index: { columns, slots } }, owner) => {
    const places: Place[] = [];
    for (let slot = 0; slot < slots; slot++) {
      const time = columns.validFrom[slot] as number;
      if (!spans.some(({ from, before }) => time >= from && time < before)) continue;
      if (isVisible(owner, slot)) places.push({ owner, slot, ref: columns.refs[slot] as number });
    }
    return places;
  });
}

/** The candidates: the best by all that speaks for them; of equals the latest. */
function chosenOf(signals: Iterable<Signals>, { vector, limit }: HeldSelection): Signals[] {
  const best = bestSlots(limit);
  const found = new Map<number, Signals>();
  for (const memory of signals) {
    const { owner, slot, ref, lexical, source, similarity, boost } = memory;
    const near = vector ? Math.max(0, (similarity ?? 0) - vector.from) : 0;
    const nearness = (weights.vector * near) / (1 - (vector?.from ?? 0));
    best.offer(lexical + weights.source * source + nearness + boost, -ref, owner, slot, ref);
    found.set(ref, memory);
  }
  return best.top().map(({ ref }) => found.get(ref) as Signals);
}

const unlinked = { relation: 0, linked: () => [] } as const;

/** Of a candidate, its strongest link to another, and the visible memories that it is most strongly linked to. */
function linksAmong(
  owners: readonly HeldMemories[],
  chosen: readonly Signals[],
  isVisible: (owner: number, slot: number) => boolean,
): (memory: Place) => { readonly relation: number; readonly linked: () => readonly MemoryItem[] } {
  const refs = new Set(chosen.map(({ ref }) => ref));
  return ({ owner, ref }) => {
    if (!owners[owner]?.index.links.has(ref)) return unlinked;
    let relation = 0;
    const visible: { readonly place: Place; readonly strength: number }[] = [];
    owners[owner]?.index.links.each(ref, (other, strength) => {
      if (refs.has(other)) relation = Math.max(relation, strength);
      const place = placeOf(owners, other);
      if (place && isVisible(place.owner, place.slot)) visible.push({ place, strength });
    });
    visible.sort((first, second) => second.strength - first.strength || first.place.ref - second.place.ref);
    return {
      relation,
      linked: () =>
        toldOf(visible, ({ place }) => owners[place.owner]?.memoryOf(place.ref) as MemoryItem | undefined),
    };
  };
}

/** As many memories of `links`, strongest first, as are told; what gives way comes after the others. No more are read. */
function toldOf<Link>(
  links: readonly Link[],
  memoryOf: (link: Link) => MemoryItem | undefined,
): MemoryItem[] {
  const [first, last]: [MemoryItem[], MemoryItem[]] = [[], []];
  for (const link of links) {
    const memory = memoryOf(link);
    if (memory) (givesWay(memory) ? last : first).push(memory);
    if (first.length === toldLinks) break;
  }
  return [...first, ...last].slice(0, toldLinks);
}
