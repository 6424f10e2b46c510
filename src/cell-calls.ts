import type { Cell, Cells } from "./cell.js";
import { pageById, pageByMark, toMark } from "./cells/cell-pages.js";
import { joinDays, joinEnergy } from "./cells/join-statistics.rule.js";
import { MemoryError } from "./errors.js";
import { countWork, statsOfWork } from "./events/memory-stats.js";
import { writingProblemNames } from "./memories/write/writing-constraints.rule.js";
import type { Memory } from "./memory.js";
import { type AppStatsOf, joinAppStats } from "./notes/app-stats.js";
import { asListed } from "./postgres/isolation.js";
import type { Scope } from "./scope/scope.js";
import { findEnergyToday } from "./usage/energy-statements.js";
import type { MemoryWithWayIn } from "./way-in.js";

/** Most cells that are asked at the same time. */
const askedAtOnce = 8;

/** What `ask` says of each cell, in their order. */
export async function each<Result>(
  cells: readonly Cell[],
  ask: (memory: MemoryWithWayIn, cell: Cell) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < cells.length; first += askedAtOnce) {
    const some = cells.slice(first, first + askedAtOnce);
    results.push(...(await Promise.all(some.map((cell) => cell.run((memory) => ask(memory, cell))))));
  }
  return results;
}

/** The same for upkeep, which leaves out a cell that is being moved: its work is done where it is moved to. */
export async function eachInUse<Result>(cells: Cells, ask: (memory: MemoryWithWayIn) => Promise<Result>) {
  const asked = await each(cells.all.map(leavingOutMoved), async (memory) =>
    memory ? [await ask(memory)] : [],
  );
  return asked.flat();
}

function leavingOutMoved(cell: Cell): Cell {
  return {
    ...cell,
    run: (work) =>
      cell.run(work).catch((error: unknown) => {
        if (MemoryError.is(error, "CELL_MOVING")) return work(null as never, null as never);
        throw error;
      }),
  };
}

/** The cells of a list over a scope, over a tenant, or over everybody. */
export function listed(cells: Cells, of: { readonly scope?: unknown; readonly tenantId?: unknown } = {}) {
  return cells.within(of.scope ?? (of.tenantId === undefined ? undefined : { tenantId: of.tenantId }));
}

/** A list with the id of the last row as its bookmark, over the cells of whom it is about. */
export function byId<
  Page extends { readonly limit?: number | undefined; readonly after?: string | undefined } | undefined,
  Row,
>(
  cells: readonly Cell[],
  page: Page,
  list: (memory: MemoryWithWayIn) => (page: Page) => Promise<Row[]>,
): Promise<Row[]> {
  const [only] = cells as [Cell];
  if (cells.length === 1) return only.run((memory) => list(memory)(page));
  const { after: _, ...rest } = page ?? {};
  return pageById(cells.length, page ?? {}, (place, within) =>
    (cells[place] as Cell).run((memory) => list(memory)({ ...rest, ...within } as Page)),
  );
}

export function known(cells: Cells): MemoryWithWayIn[] {
  return cells.all.flatMap((cell) => cell.known()?.memory ?? []);
}

/** What `ask` finds in the cells that may hold something of a scope: the first that does not say that it is not there. */
export async function firstFound<Result>(
  cells: Cells,
  scope: unknown,
  ask: (memory: MemoryWithWayIn) => Promise<Result>,
): Promise<Result> {
  const own = cells.of(scope);
  let missing: unknown;
  for (const cell of new Set([own, ...cells.within(scope)])) {
    try {
      return await cell.run(ask);
    } catch (error) {
      if (!MemoryError.is(error, "NOT_FOUND")) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

/**
 * Events of several cells, latest first. Their ids are of a cell each: over cells an id is the cell's, times the number of
 * cells, and the cell added. Of the same millisecond, those of the first cell come first.
 */
export async function listEvents(
  cells: Cells,
  of: (memory: MemoryWithWayIn) => Memory["events"]["list"],
  selection: Parameters<Memory["events"]["list"]>[0] = {},
): ReturnType<Memory["events"]["list"]> {
  const places = cells.within(selection.scope);
  if (places.length === 1) return (places[0] as Cell).run((memory) => of(memory)(selection));
  const { before, limit = 100, ...rest } = selection;
  const count = cells.all.length;
  const last =
    before === undefined ? null : { cell: before % count, id: Math.floor(before / count), atMs: 0 };
  if (last) {
    const [event] = await (cells.all[last.cell] as Cell).run((memory) =>
      of(memory)({ before: last.id + 1, limit: 1 }),
    );
    last.atMs = event?.at.getTime() ?? 0;
  }
  const parts = await each(places, async (memory, { cell }) => {
    const until = last && new Date(cell < last.cell ? last.atMs : last.atMs + 1);
    const bounded = {
      ...rest,
      ...(last?.cell === cell && { before: last.id }),
      ...(last && last.cell !== cell && { until: earlier(until, rest.until) }),
    };
    const events = await of(memory)({ ...bounded, limit });
    return events.map((event) => ({ ...event, id: event.id * count + cell }));
  });
  return parts
    .flat()
    .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id % count) - (b.id % count) || b.id - a.id)
    .slice(0, limit);
}

function earlier(one: Date | null, other: Date | undefined): Date | undefined {
  if (one === null || (other && other < one)) return other;
  return one;
}

/** Users or apps, one cell after the other. */
export function listOwners(
  cells: Cells,
  of: (memory: MemoryWithWayIn) => Memory["users"]["list"],
  page: Parameters<Memory["users"]["list"]>[0],
): ReturnType<Memory["users"]["list"]> {
  const places = listed(cells, page);
  if (places.length === 1) return (places[0] as Cell).run((memory) => of(memory)(page));
  const { after: _, ...rest } = page ?? {};
  return pageByMark(
    places.length,
    page ?? {},
    (place, within) => (places[place] as Cell).run((memory) => of(memory)({ ...rest, ...within })),
    (row, place) => ({ ...row, cursor: toMark(place, row.cursor) }),
  );
}

/** The three kinds of statistics. */
export function statsOver(cells: Cells, of: (memory: MemoryWithWayIn) => Memory["stats"]): Memory["stats"] {
  type Stats = (input: unknown) => Promise<never>;
  return (async (input?: { readonly by?: unknown; readonly scope?: Scope; readonly tenantId?: string }) => {
    const places = input !== null && typeof input === "object" ? listed(cells, input) : cells.all;
    const parts = () => each(places, (memory) => (of(memory) as Stats)(input));
    if (places.length === 1) return (await parts())[0];
    if (input?.by === "day") return joinDays(await parts());
    if (input?.by !== undefined) return joinAppStats(await parts(), new Date());
    // Checks what is asked.
    await (places[0] as Cell).run((memory) => (of(memory) as Stats)(input));
    const scope = (input as AppStatsOf | undefined)?.scope ?? null;
    const worked = await Promise.all(
      places.map((cell) =>
        cell.run((_, db) =>
          asListed({ scope: scope ?? undefined }, async () => ({
            counts: await countWork(db.patient, scope, writingProblemNames),
            energy: await findEnergyToday(db.patient, scope),
          })),
        ),
      ),
    );
    return {
      ...statsOfWork(worked.map(({ counts }) => counts)),
      energy: joinEnergy(worked.map(({ energy }) => energy)),
    };
  }) as Memory["stats"];
}

export async function* exportFrom(
  cells: Cells,
  of: (memory: MemoryWithWayIn) => Memory["export"],
  scope: Scope,
): ReturnType<Memory["export"]> extends AsyncIterable<infer Line> ? AsyncGenerator<Line> : never {
  const places = cells.within(scope);
  if (places.length > 1 && scope?.appId !== undefined) {
    throw new MemoryError(
      "OTHER_CELL",
      "What an app without a tenant knows is in the cells of its users: export those, { userId, appId }, or give the app a tenant.",
    );
  }
  const cell = cells.of(scope);
  const lines = await cell.run(async (memory) => of(memory)(scope));
  yield* lines;
}
