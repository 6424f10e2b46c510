import type { MemoryKind } from "../../memories/item/memory.js";
import { byRank, importanceRank, type KnownOrder, type ListedView } from "./known-order.js";
import { firstIndex, merge, type Reader } from "./sorted-items.js";

/** Which memories are listed; all but `appId` and `now` as `RecallStatement.known` has them. */
export interface KnownSelection {
  /** "": of no app alone. */
  readonly appId: string;
  readonly categories: readonly string[];
  /** Most of each of these that are shown; null for no limit. */
  readonly lengths: readonly (number | null)[];
  /** Those that are always shown, statements and slots of whatever importance. */
  readonly shownWhole: readonly string[];
  /** Slots of the other categories are always shown from this importance on. */
  readonly minImportance: number;
  /** Most that are always shown. */
  readonly most: number;
  /** Most of the rest. */
  readonly rest: number;
  /** Most free statements of a category that are looked at. */
  readonly statements: number;
  /** Milliseconds since 1970, with fractions. */
  readonly now: number;
}

/** What is known whatever is asked. */
export interface KnownRefs {
  /** What is always shown: pinned memories first, then the most important and the latest. */
  readonly profile: readonly number[];
  /** What is shown while there is room, in the same order. */
  readonly rest: readonly number[];
  readonly knownCount: number;
  /** Whether there are more than were counted. */
  readonly knownCut: boolean;
}

/** A category as it is being listed. */
interface ListedCategory {
  readonly isWhole: boolean;
  readonly length: number;
  /** How many of it came before. */
  listed: number;
}

/** Memories of a category that are read in their order. */
interface KnownReader extends Reader<ListedView> {
  readonly category: ListedCategory;
  readonly areSlots: boolean;
  /** How many more may be taken of these and others together. */
  readonly limit: Limit | null;
}
interface Limit {
  left: number;
}

/** What the statement of a recall lists of `owners` as `known_memory`: the same memories in the same order. */
export function listKnown(owners: readonly KnownOrder[], selection: KnownSelection): KnownRefs {
  const readers: KnownReader[] = [];
  const categories = listedCategories(selection);
  let [knownCount, knownCut] = [0, false];
  for (const owner of owners) {
    let pinned = 0;
    const pinnedLimit = { left: selection.most };
    for (const [name, category] of categories) {
      let statements = 0;
      const limit = { left: selection.statements };
      for (const shelf of owner.shelves(name, appsOf(selection), selection.now)) {
        const read = (items: readonly ListedView[], areSlots: boolean, limit: Limit | null) => {
          const at = items.length - 1;
          const next = items[at];
          if (next) readers.push({ items, at, next, category, areSlots, limit });
        };
        read(shelf.slots, true, null);
        read(shelf.pinned, false, pinnedLimit);
        read(shelf.statements, false, limit);
        knownCount += shelf.slots.length;
        pinned += shelf.pinned.length;
        statements += shelf.statements.length;
      }
      const counted = Math.min(statements, selection.statements);
      knownCount += counted;
      knownCut ||= counted > 0 && counted === selection.statements;
    }
    knownCount += Math.min(pinned, selection.most);
  }
  return { ...readKnown(readers, selection), knownCount, knownCut };
}

/**
 * Reads best first, until both lists are full or nothing is left that could be in one. What gives way is listed after the
 * others.
 */
function readKnown(
  readers: readonly KnownReader[],
  { most, rest: mostOfRest, minImportance }: KnownSelection,
): Pick<KnownRefs, "profile" | "rest"> {
  const profile: RefList = { refs: [], most };
  const rest: RefList = { refs: [], most: mostOfRest };
  const last: LastRef[] = [];
  const least = Math.fround(minImportance);
  const listFor = ({ category, areSlots }: KnownReader, { pinned, importance }: ListedView) =>
    pinned || category.isWhole || (areSlots && importance >= least) ? profile : rest;
  const reading = merge(readers, byRank);
  for (let reader = reading.first; reader; reader = reading.first) {
    if (isFull(profile) && isFull(rest)) break;
    const list = listFor(reader, reader.next);
    const { category, next } = reader;
    if (isOver(reader)) reading.move(-1);
    else if (isFull(list)) reading.move(afterFull(reader, list === rest, least));
    else {
      if (next.last) last.push({ list, category, ref: next.ref });
      else list.refs.push(next.ref);
      reading.move(reader.at - 1);
    }
  }
  addLast(last);
  return { profile: profile.refs, rest: rest.refs };
}

/** A list, with the most that it takes. */
interface RefList {
  readonly refs: number[];
  readonly most: number;
}

const isFull = ({ refs, most }: RefList) => refs.length >= most;

/** A memory that gives way, and the list that it is for. */
interface LastRef {
  readonly list: RefList;
  readonly category: ListedCategory;
  readonly ref: number;
}

/** Puts what gives way, in its order, into the lists and categories that have room left. */
function addLast(last: readonly LastRef[]): void {
  for (const { list, category, ref } of last) {
    if (category.listed++ < category.length && !isFull(list)) list.refs.push(ref);
  }
}

/** Counts what is read next: whether no more is taken of its reader, neither that nor what follows. */
function isOver({ next, category, limit }: KnownReader): boolean {
  if (limit?.left === 0) return true;
  if (limit) limit.left--;
  if (next.last) return false;
  category.listed++;
  return !next.pinned && category.listed > category.length;
}

/**
 * Where a reader goes on whose next memory finds its list full. Those that count, for the length of their category or
 * towards the pinned ones of all categories, are read one by one. Of the others all that follow are for the same list, but
 * for slots: those below `least` may still be for the rest.
 */
function afterFull(
  { items, next, at, category, areSlots, limit }: KnownReader,
  isRest: boolean,
  least: number,
): number {
  const counts = next.pinned && limit !== null;
  if (category.length !== Number.POSITIVE_INFINITY || counts) return at - 1;
  if (isRest || category.isWhole || !areSlots) return -1;
  return firstIndex(items, ({ pinned, importance }) => pinned || importance >= least) - 1;
}

function listedCategories({ categories, lengths, shownWhole }: KnownSelection): Map<string, ListedCategory> {
  const listed = (name: string, index: number): [string, ListedCategory] => [
    name,
    { isWhole: shownWhole.includes(name), length: lengths[index] ?? Number.POSITIVE_INFINITY, listed: 0 },
  ];
  return new Map(categories.map(listed));
}

const appsOf = ({ appId }: { readonly appId: string }) => (appId === "" ? [""] : ["", appId]);

/** Of which memories a list is made. */
export interface ListedKinds {
  readonly categories: readonly string[];
  readonly limit: number;
  /** Milliseconds since 1970, with fractions. */
  readonly now: number;
}

/** The notes of an app, the latest first: what the statement of a recall lists as "note". */
export function listNotes(app: KnownOrder, { categories, limit, now }: ListedKinds): number[] {
  const shelves = categories.flatMap((category) => app.shelves(category, null, now));
  return take(
    shelves.map(({ notes }) => notes),
    limit,
    () => true,
  );
}

/**
 * The most important memories of these kinds, pinned ones first: what a question that asks for all there is finds, as
 * `importantMemories` says it in SQL.
 */
export function listImportant(
  owners: readonly KnownOrder[],
  asked: ListedKinds & { readonly appId: string; readonly kinds: readonly MemoryKind[] },
): number[] {
  const { categories, kinds, limit, now } = asked;
  const shelves = owners.flatMap((owner) =>
    categories.flatMap((category) => owner.shelves(category, appsOf(asked), now)),
  );
  const lists = shelves.flatMap((shelf) => [shelf.slots, shelf.pinned, shelf.statements, shelf.others]);
  // Notes lie in another order. An app keeps ten.
  const notes = kinds.includes("note") ? shelves.flatMap((shelf) => shelf.notes) : [];
  const ranked = notes.map((note) => ({ ...note, rank: importanceRank(note) })).sort(byRank);
  return take([...lists, ranked], limit, ({ kind, validFrom }) => kinds.includes(kind) && validFrom <= now);
}

/** The first `limit` of what is `wanted`, best first. */
function take(
  lists: readonly (readonly ListedView[])[],
  limit: number,
  wanted: (memory: ListedView) => boolean,
): number[] {
  const readers = lists.flatMap((items) => {
    const next = items.at(-1);
    return next ? [{ items, next, at: items.length - 1 }] : [];
  });
  const refs: number[] = [];
  const reading = merge(readers, byRank);
  for (let reader = reading.first; reader && refs.length < limit; reader = reading.first) {
    if (wanted(reader.next)) refs.push(reader.next.ref);
    reading.move(reader.at - 1);
  }
  return refs;
}
