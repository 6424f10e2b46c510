import type { Cell, Cells } from "./cell.js";
import {
  byId,
  each,
  eachInUse,
  exportFrom,
  firstFound,
  known,
  listEvents,
  listed,
  listOwners,
  statsOver,
} from "./cell-calls.js";
import { claimOver } from "./cell-claims.js";
import { joinWorks } from "./cell-work.js";
import { pageByMark, readMark, toMark } from "./cells/cell-pages.js";
import { joinBy, latest, sums } from "./cells/join-counts.rule.js";
import { joinConsumed, joinHeld, joinStatus } from "./cells/join-statistics.rule.js";
import { MemoryError } from "./errors.js";
import type { ScopePlace } from "./isolated-memory.js";
import { parseScopeIn } from "./scope/scope.js";
import { celledStore } from "./store/celled-store.js";
import { peekLines } from "./transfer/peek-lines.js";
import { type MemoryWithWayIn, wayInKey } from "./way-in.js";

type Call = (...args: never[]) => unknown;

/** Where the scope stands that a call must have. */
type Place<C extends Call> = Exclude<ScopePlace<Parameters<C>>, `${string} or all`>;

/**
 * Which cells a call goes to. "1.scope": the cell of the scope there. "found 1.scope": the same; of an app without a tenant,
 * whose users are spread, the first cell that has what the call is about. A function: what it says. "first": the same in all.
 */
type Route<C extends Call> =
  | (ReturnType<C> extends Promise<unknown> ? Place<C> | `found ${Place<C>}` : never)
  | ((cells: Cells, of: (memory: MemoryWithWayIn) => C) => C);

/** What each member of `Api` is in the table: the compiler asks for every one. */
export type Routes<Api> = {
  readonly [Name in keyof Api]-?: Api[Name] extends Call
    ? Route<Api[Name]>
    : Api[Name][keyof Api[Name]] extends Call
      ? Routes<Api[Name]>
      : "first";
};

/** Where each call of a memory with several cells goes. */
export const routes: Routes<Omit<MemoryWithWayIn, "setup" | "cells" | "checkpointer">> = {
  ...{ record: "0.scope", recall: "0.scope", remember: "0.scope", query: "0.scope" },
  summaries: { list: "0.scope" },
  memories: {
    list: (cells, of) => (page) => byId(cells.within(page?.scope), page, of),
    get: (cells, of) => async (id, access) =>
      (await each(cells.within(access?.scope), (memory) => of(memory)(id, access))).find(Boolean) ?? null,
    history: (cells, of) => async (id, access) =>
      (await each(cells.within(access?.scope), (memory) => of(memory)(id, access))).flat(),
    links: (cells, of) => async (id, access) =>
      firstFound(cells, access?.scope, (memory) => of(memory)(id, access)),
    add: "1.scope",
    ...{ update: "found 2.scope", pin: "found 2.scope" },
    ...{ remove: "found 1.scope", restore: "found 1.scope", revert: "found 1.scope", merge: "found 1.scope" },
  },
  procedures: { write: "0.scope" },
  notes: {
    list: (cells, of) => (page) => byId(cells.within(page?.scope), page, of),
    search: (cells, of) => async (query) => {
      const hits = (await each(cells.within(query?.scope), (memory) => of(memory)(query))).flat();
      return hits.sort((a, b) => b.score - a.score).slice(0, query?.topK ?? hits.length);
    },
    count: (cells, of) => async (input) =>
      (await each(cells.within(input?.scope), (memory) => of(memory)(input))).reduce((sum, n) => sum + n, 0),
    remove: "found 1.scope",
    purge: (cells, of) => async (input) =>
      sums(await each(cells.within(input?.scope), (memory) => of(memory)(input))),
    context: (cells, of) => async (input) => {
      const blocks = await each(cells.within(input?.scope), (memory) => of(memory)(input));
      return blocks.some((block) => block !== null)
        ? blocks.filter((block) => block !== null).join("\n\n")
        : null;
    },
    export: (cells, of) => async (input) => {
      const parts = await each(cells.within(input?.scope), (memory) => of(memory)(input));
      const notes = parts.flatMap((part) => part.notes);
      const [first] = parts as [(typeof parts)[number]];
      return { ...first, notes: latest(notes, ({ createdAt }) => new Date(createdAt)) };
    },
  },
  quarantine: {
    list: (cells, of) => (page) => byId(listed(cells, page), page, of),
    ...{ approve: "found 1.scope", reject: "found 1.scope" },
  },
  changes: { since: "1.scope" },
  events: {
    count: (cells, of) => async (selection) => {
      const parts = await each(cells.within(selection?.scope), (memory) => of(memory)(selection));
      const keyOf = ({ count: _, ...fields }: (typeof parts)[number][number]) => JSON.stringify(fields);
      const joined = joinBy(parts.flat(), keyOf, (one, other) => ({
        ...one,
        count: one.count + other.count,
      }));
      return joined.sort((a, b) => b.count - a.count);
    },
    list: (cells, of) => (selection) => listEvents(cells, of, selection),
  },
  jobs: {
    list:
      (cells, of) =>
      (page = {}) => {
        const { after: _, ...rest } = page;
        const places = listed(cells, page);
        const offset = (place: number) => (places[place] as Cell).cell;
        const list = (place: number, within: typeof page) =>
          (places[place] as Cell).run((memory) => of(memory)({ ...rest, ...within }));
        const start = page.after === undefined ? undefined : readMark(page.after, cells.all.length);
        const after =
          start &&
          toMark(
            places.findIndex(({ cell }) => cell === start.place),
            start.own,
          );
        return pageByMark(places.length, { ...page, after }, list, (row, place) => ({
          ...row,
          id: toMark(offset(place), row.id),
        }));
      },
    retry: (cells, of) => async (which, input) => {
      if (typeof which !== "string") {
        const places = listed(cells, input);
        return sums(await each(places, (memory) => of(memory)(which, input)));
      }
      const { place, own } = readMark(which, cells.all.length);
      return (cells.all[place] as Cell).run((memory) => of(memory)(own, input));
    },
  },
  consents: {
    list: (cells, of) => (page) => byId(listed(cells, page), page, of),
    decide: "found 0.scope",
  },
  transcript: { search: "0.scope" },
  threads: {
    list: (cells, of) => async (page) => {
      const parts = await each(cells.within(page?.scope), (memory) => of(memory)(page));
      if (parts.length === 1) return parts[0] ?? [];
      // A cursor is the time of the last activity, which says where the page begins in every cell.
      const rows = parts.flat().sort((a, b) => (a.cursor < b.cursor ? 1 : -1));
      return rows.slice(0, page.limit ?? 100);
    },
    claim: (cells, of) => (input) => claimOver(cells, of, input),
    ...{ end: "0.scope", shown: "0.scope", messages: "0.scope", delete: "found 0.scope" },
  },
  checkpoints: {
    prune: (cells, of) => async (input) =>
      sums(await each(cells.within(input?.scope), (memory) => of(memory)(input))),
  },
  store: (cells, of) => (input) =>
    celledStore(input, cells.defaultScope, (scope) => {
      const cell = cells.of(scope ?? {});
      const store = () => of(cell.opened().memory)(input);
      return { cell: cell.cell, store, run: (work) => cell.run((memory) => work(of(memory)(input))) };
    }),
  importStore: () => async () => {
    throw new MemoryError(
      "INVALID_INPUT",
      "A store is taken over by a memory of one cell: import it there, and then what `memory.export` gives of each scope here.",
    );
  },
  graphs: (cells, of) => () => of((cells.all[0] as Cell).opened().memory)(),
  users: {
    list: (cells, of) => (page) => listOwners(cells, of, page),
    merge: (cells, of) => async (merge) => {
      const [from, to] = [cells.of(merge?.from), cells.of(merge?.to)];
      if (from.cell === to.cell) return to.run((memory) => of(memory)(merge));
      throw new MemoryError(
        "OTHER_CELL",
        "The two users are in different cells, which no transaction spans. Users of one tenant share a cell: give them one; " +
          "or export the one, import it as the other ({ scope }), and forget the one.",
      );
    },
  },
  apps: {
    list: (cells, of) => (page) => listOwners(cells, of, page),
    uninstall: (cells, of) => async (app, how) =>
      sums(await each(cells.within(app), (memory) => of(memory)(app, how))),
  },
  stats: (cells, of) => statsOver(cells, of),
  energy: {
    level: (cells, of) => async (input) => {
      const parts = await each(listed(cells, input), (memory) => of(memory)(input));
      return parts.reduce((least, part) => (part.level < least.level ? part : least));
    },
    consumed: (cells, of) => async (selection) =>
      joinConsumed(await each(listed(cells, selection), (memory) => of(memory)(selection)), selection.by),
  },
  energyConsumedSinceLastPoll: (cells, of) => () =>
    known(cells).reduce((sum, memory) => sum + of(memory)(), 0),
  upkeep: (cells, of) => async (which) =>
    (await eachInUse(cells, (memory) => of(memory)(which))).reduce((sum, count) => sum + count, 0),
  work: (cells) => (input) => joinWorks(cells, input),
  reembed: (cells, of) => async (how) => {
    const parts = await each(cells.all, (memory) => of(memory)(how));
    const [first] = parts as [(typeof parts)[number]];
    const { embedded, remaining } = sums(parts.map(({ embedded, remaining }) => ({ embedded, remaining })));
    return { ...first, embedded, remaining };
  },
  forget: (cells, of) => async (scope, how) => {
    const parts = await each(cells.within(scope), (memory) => of(memory)(scope, how));
    return {
      removed: sums(parts.map(({ removed }) => removed)),
      total: parts.reduce((sum, { total }) => sum + total, 0),
      sharedThreads: parts.flatMap(({ sharedThreads }) => sharedThreads),
      complete: parts.every(({ complete }) => complete),
    };
  },
  export: (cells, of) => (scope) => exportFrom(cells, of, scope),
  import: (cells, of) => async (lines, how) => {
    const target = parseScopeIn(how);
    const { header, all } = target ? { header: null, all: lines } : await peekLines(lines);
    return cells.of(target ?? header).run((memory) => of(memory)(all, how));
  },
  policy: "first",
  databaseStatus: (cells, of) => () => joinStatus(known(cells).map((memory) => of(memory)())),
  [wayInKey]: {
    ...{ emit: "0.scope", reportError: "0.scope" },
    // Whose the thread is that a run of nobody's writes to is not known.
    refuse: (cells, of) => async (refused) => {
      await each(cells.all, (memory) => of(memory)(refused));
    },
    defaultScope: (cells) => () => cells.defaultScope,
    consentAsk: "first" as never,
  },
  held: (cells, of) => () => joinHeld(known(cells).map((memory) => of(memory)())),
  idle: (cells, of) => async () => {
    await Promise.all(known(cells).map((memory) => of(memory)()));
  },
  close: (cells, of) => async () => {
    await Promise.all(known(cells).map((memory) => of(memory)()));
  },
};

/** The table without the names in it. */
type Table = Readonly<Record<string | symbol, unknown>>;

/** `table` as calls over `cells`. @param first a memory of one cell, for what is the same in all. */
export function routedApi(cells: Cells, table: object, first: MemoryWithWayIn): MemoryWithWayIn {
  return routed(cells, table as Table, first, (memory) => memory) as MemoryWithWayIn;
}

function routed(cells: Cells, table: Table, first: object, at: (memory: MemoryWithWayIn) => object): object {
  const calls = Reflect.ownKeys(table).map((name) => {
    const route = table[name];
    const own = (memory: MemoryWithWayIn) => Reflect.get(at(memory), name) as Call;
    if (route === "first") return [name, Reflect.get(first, name)];
    if (typeof route === "function")
      return [name, (route as (cells: Cells, of: typeof own) => Call)(cells, own)];
    if (typeof route === "string") return [name, toCell(cells, route, own)];
    return [name, routed(cells, route as Table, Reflect.get(first, name) as object, own as never)];
  });
  return Object.fromEntries(calls);
}

/** A call that goes to the cell of the scope at its place. */
function toCell(cells: Cells, route: string, of: (memory: MemoryWithWayIn) => Call): Call {
  const [place = "", found] = route.split(" ").reverse();
  return async (...args) => {
    const argument: unknown = args[Number.parseInt(place, 10)];
    const scope = place.endsWith(".scope") ? (argument as { scope?: unknown } | undefined)?.scope : argument;
    const ask = async (memory: MemoryWithWayIn) => of(memory)(...args);
    return found ? firstFound(cells, scope, ask) : cells.of(scope).run(ask);
  };
}
