import { go, type Place } from "../place.js";

/** Links to the next page and back to the first; pages are named by where they begin. */
export function Pages({
  place,
  next,
  name = "after",
}: {
  readonly place: Place;
  /** Where the next page begins; null when there is none. */
  readonly next: string | null;
  /** The param that holds it. */
  readonly name?: string;
}) {
  const at = place.params[name] ?? "";
  if (at === "" && next === null) return null;
  const to = (page: string) => () => go({ ...place, params: { ...place.params, [name]: page } });
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
