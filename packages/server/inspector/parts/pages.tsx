import { go, useHere } from "../place.js";

/** Buttons to the next page and back to the first; pages are named by where they begin. */
export function Pages({
  next,
  name = "after",
  rows,
}: {
  /** Where the next page begins; null when there is none. */
  next: string | null;
  /** The param that holds it. */
  name?: string;
  /** Rows of this page, where the param `row` says which its first one is. */
  rows?: number;
}) {
  const { view, params } = useHere();
  const at = params[name] ?? "";
  if (at === "" && next === null) return null;
  const goTo = (page: string, row: string) => go(view, { ...params, [name]: page, row });
  const nextRow = rows === undefined ? "" : String(Number(params.row ?? 1) + rows);
  return (
    <div class="pages">
      <button type="button" disabled={at === ""} onClick={() => history.back()}>
        ← Back
      </button>
      <button type="button" disabled={at === ""} onClick={() => goTo("", "")}>
        First page
      </button>
      <button type="button" disabled={next === null} onClick={() => goTo(next ?? "", nextRow)}>
        Next page →
      </button>
    </div>
  );
}
