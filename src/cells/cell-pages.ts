import { MemoryError } from "../errors.js";

/** Rows asked for where nothing is said, as in every list. */
const pageRows = 100;

/** One page of a list. */
export interface CellPage {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

/** The rows of a page in one cell. */
type ListIn<Row> = (place: number, page: CellPage) => Promise<readonly Row[]>;

/** A page of a list over `places` cells, one cell after the other, beginning at the place `from`. */
async function fill<Row>(
  places: number,
  { from, limit, rows }: { readonly from: number; readonly limit: number; readonly rows: readonly Row[] },
  list: ListIn<Row>,
): Promise<Row[]> {
  const filled = [...rows];
  for (let place = from; place < places && filled.length < limit; place++) {
    filled.push(...(await list(place, { limit: limit - filled.length })));
  }
  return filled;
}

/**
 * A page of a list whose bookmark is the id of its last row: the cell that has it says where the page begins.
 *
 * @throws MemoryError `INVALID_INPUT` when no cell has it
 */
export async function pageById<Row>(
  places: number,
  { limit = pageRows, after }: CellPage,
  list: ListIn<Row>,
): Promise<Row[]> {
  if (after === undefined) return fill(places, { from: 0, limit, rows: [] }, list);
  let unknown: unknown;
  for (let place = 0; place < places; place++) {
    try {
      const rows = await list(place, { limit, after });
      return await fill(places, { from: place + 1, limit, rows }, list);
    } catch (error) {
      if (!MemoryError.is(error, "INVALID_INPUT")) throw error;
      unknown = error;
    }
  }
  throw unknown;
}

/**
 * A page of a list whose bookmarks say the cell themselves: "3.17" is 17 in the cell 3.
 *
 * @param mark how a row bears its bookmark over all cells.
 * @throws MemoryError `INVALID_INPUT`
 */
export async function pageByMark<Row>(
  places: number,
  { limit = pageRows, after }: CellPage,
  list: ListIn<Row>,
  mark: (row: Row, place: number) => Row,
): Promise<Row[]> {
  const marked: ListIn<Row> = async (place, page) => (await list(place, page)).map((row) => mark(row, place));
  if (after === undefined) return fill(places, { from: 0, limit, rows: [] }, marked);
  const { place, own } = readMark(after, places);
  const rows = await marked(place, { limit, after: own });
  return fill(places, { from: place + 1, limit, rows }, marked);
}

/** What is `own` in the cell `place`, as it is called over all cells. */
export function toMark(place: number, own: string): string {
  return `${place}.${own}`;
}

/** The cell and what is meant in it. @throws MemoryError `INVALID_INPUT` */
export function readMark(mark: unknown, places: number): { readonly place: number; readonly own: string } {
  const [, number = "", own = ""] = /^(\d{1,3})\.(.+)$/.exec(typeof mark === "string" ? mark : "") ?? [];
  const place = Number(number);
  if (number !== "" && place < places) return { place, own };
  throw new MemoryError(
    "INVALID_INPUT",
    `${JSON.stringify(mark)} is no id of a list over all cells: it begins with the cell's number, as "3.…" does.`,
  );
}
