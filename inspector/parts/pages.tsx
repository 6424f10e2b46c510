import { go, type Place } from "../place.js";

/** Links to the next page and back to the first; pages are named by where they begin. */
export function Pages({
  place,
  next,
  name = "after",
  rows,
}: {
  readonly place: Place;
  /** Where the next page begins; null when there is none. */
  readonly next: string | null;
  /** The param that holds it. */
  readonly name?: string;
  /** Rows of this page, where the param `row` says which its first one is. */
  readonly rows?: number;
}) {
  const at = place.params[name] ?? "";
  if (at === "" && next === null) return null;
  const to = (page: string) => () => {
    const row =
      page === "" || rows === undefined ? "" : String(Number(place.params.row ?? 1) + rows);
    go({ ...place, params: { ...place.params, [name]: page, row } });
  };
  return (
    <div class="pages">
      <button type="button" disabled={at === ""} onClick={() => history.back()}>
        ← Back
      </button>
      <button type="button" disabled={at === ""} onClick={to("")}>
        First page
      </button>
      <button type="button" disabled={next === null} onClick={to(next ?? "")}>
        Next page →
      </button>
    </div>
  );
}
