import { givesWay, type MemoryKind } from "../../memories/item/memory.js";
import { firstIndex, insertSorted, type Order, removeSorted } from "./sorted-items.js";

/** What decides where a memory is listed that is known whatever is asked. Times are milliseconds since 1970, with fractions. */
export interface KnownView {
  readonly ref: number;
  readonly appId: string;
  readonly kind: MemoryKind;
  readonly category: string;
  readonly pinned: boolean;
  readonly hasKey: boolean;
  readonly importance: number;
  readonly updatedAt: number;
  readonly validFrom: number;
  /** Null: never. */
  readonly expiresAt: number | null;
}

/**
 * The active memories of one owner in the order in which they are listed, so that no listing reads them all.
 * `known-memories.ts` lists them.
 */
export interface KnownOrder {
  /** Puts a memory in its places, or in others when it has changed. */
  add(view: KnownView): void;
  remove(ref: number): void;
  /** The lists of `category`, with what holds at `now`: those of `apps`, or of all when that is null. */
  shelves(category: string, apps: readonly string[] | null, now: number): readonly Shelf[];
  /** Bytes that it takes up, as measured. */
  readonly bytes: number;
}

/** Memories of one category and app that hold. A memory is in one of the lists, the first listed last. */
type Shelf = { readonly [List in ShelfList]: readonly ListedView[] };

/** A view as it is listed: its importance as a `real`, by which PostgreSQL compares. */
export interface ListedView extends KnownView {
  /** As `importanceRank` has it; that of notes is 0, since the latest come first. */
  readonly rank: number;
  /** Whether it is listed after those that do not give way. */
  readonly last: boolean;
  /** When it holds: from then on, and before that. */
  readonly from: number;
  readonly until: number;
}

type ShelfList =
  /** Facts and insights with a key. */
  | "slots"
  /** What is pinned besides: statements and episodes. */
  | "pinned"
  /** Facts and insights without a key, not pinned. */
  | "statements"
  | "notes"
  /** Episodes that are not pinned, and procedures. */
  | "others";

/** Pinned ones above 10, and then by importance: as the index `memory_rank` has it. */
export const importanceRank = ({ importance, pinned }: Pick<KnownView, "importance" | "pinned">): number =>
  importance + (pinned ? 10 : 0);

/** The highest rank behind all others, then the latest, then the first stored. */
export const byRank: Order<ListedView> = (a, b) =>
  a.rank - b.rank || a.updatedAt - b.updatedAt || b.ref - a.ref;

const byStart: Order<ListedView> = (a, b) => a.from - b.from || a.ref - b.ref;
const byEnd: Order<ListedView> = (a, b) => a.until - b.until || a.ref - b.ref;

interface Entry extends ListedView {
  listed: boolean;
}
type Lists = Record<ShelfList, Entry[]>;

/** Measured: an entry, its name in the map, and its places in a list and among the starts. */
const bytesOfEntry = 280;
/** From so many on, lists are read once instead of being searched for each that leaves. */
const many = 32;

/** An empty order. */
export function createKnownOrder(): KnownOrder {
  const entries = new Map<number, Entry>();
  const categories = new Map<string, Map<string, Lists>>();
  // Until somebody asks what holds, everything does that is there: then few have to be taken out, and none put in.
  const time = { started: Number.POSITIVE_INFINITY, ended: Number.NEGATIVE_INFINITY };
  const starts: Entry[] = [];
  const ends: Entry[] = [];
  const holds = ({ from, until }: Entry) => from <= time.started && until > time.ended;

  const put = (entry: Entry) => {
    entry.listed = true;
    insertSorted(listsOf(categories, entry)[listOf(entry)], entry, byRank);
  };
  const take = (entry: Entry) => {
    entry.listed = false;
    removeSorted(listsOf(categories, entry)[listOf(entry)], entry, byRank);
  };
  const remove = (ref: number) => {
    const entry = entries.get(ref);
    if (!entry) return;
    entries.delete(ref);
    if (entry.listed) take(entry);
    removeSorted(starts, entry, byStart);
    if (entry.expiresAt !== null) removeSorted(ends, entry, byEnd);
  };
  const moveTo = (now: number) => {
    if (time.started === now && time.ended === now) return;
    const turned = [
      ...between(starts, ({ from }) => from, time.started, now),
      ...between(ends, ({ until }) => until, time.ended, now),
    ];
    Object.assign(time, { started: now, ended: now });
    const leaving = turned.filter((entry) => entry.listed && !holds(entry));
    if (leaving.length < many) leaving.forEach(take);
    else {
      for (const entry of leaving) entry.listed = false;
      dropUnlisted(categories);
    }
    for (const entry of turned) if (!entry.listed && holds(entry)) put(entry);
  };

  return {
    get bytes() {
      return entries.size * bytesOfEntry;
    },
    add(view) {
      remove(view.ref);
      const entry = entryOf(view);
      entries.set(entry.ref, entry);
      insertSorted(starts, entry, byStart);
      if (entry.expiresAt !== null) insertSorted(ends, entry, byEnd);
      if (holds(entry)) put(entry);
    },
    remove,
    shelves(category, apps, now) {
      moveTo(now);
      const found = categories.get(category);
      if (!found) return [];
      if (apps === null) return [...found.values()];
      return apps.map((app) => found.get(app)).filter((lists) => lists !== undefined);
    },
  };
}

/** Notes hold at once, from whenever they say. */
function entryOf(view: KnownView): Entry {
  const { ref, appId, kind, category, pinned, hasKey, updatedAt, validFrom, expiresAt } = view;
  const isNote = kind === "note";
  const importance = Math.fround(view.importance);
  return {
    ref,
    appId,
    kind,
    category,
    pinned,
    hasKey,
    importance,
    updatedAt,
    validFrom,
    expiresAt,
    rank: isNote ? 0 : importanceRank({ importance, pinned }),
    last: givesWay({ kind, pinned }),
    from: isNote ? Number.NEGATIVE_INFINITY : validFrom,
    until: expiresAt ?? Number.POSITIVE_INFINITY,
    listed: false,
  };
}

function listOf({ kind, hasKey, pinned }: KnownView): ShelfList {
  if (kind === "note") return "notes";
  const isStatement = kind === "fact" || kind === "insight";
  if (isStatement && hasKey) return "slots";
  if (pinned && (isStatement || kind === "episode")) return "pinned";
  return isStatement ? "statements" : "others";
}

function listsOf(categories: Map<string, Map<string, Lists>>, { category, appId }: KnownView): Lists {
  const apps = categories.get(category) ?? new Map<string, Lists>();
  if (apps.size === 0) categories.set(category, apps);
  const lists = apps.get(appId) ?? { slots: [], pinned: [], statements: [], notes: [], others: [] };
  if (!apps.has(appId)) apps.set(appId, lists);
  return lists;
}

/** Entries whose moment lies after the earlier of two times and not after the later one, of those sorted by it. */
function between(entries: readonly Entry[], moment: (entry: Entry) => number, a: number, b: number): Entry[] {
  const after = (time: number) => firstIndex(entries, (entry) => moment(entry) > time);
  return entries.slice(after(Math.min(a, b)), after(Math.max(a, b)));
}

/** Takes all that is not listed any more out of the lists. */
function dropUnlisted(categories: Map<string, Map<string, Lists>>): void {
  for (const apps of categories.values()) {
    for (const lists of apps.values()) {
      for (const name of Object.keys(lists) as ShelfList[]) {
        lists[name] = lists[name].filter((entry) => entry.listed);
      }
    }
  }
}
