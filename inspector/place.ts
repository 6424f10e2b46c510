import { useEffect, useState } from "preact/hooks";

/** What is looked at: a view and what it shows, as the address's fragment holds it. */
export interface Place {
  readonly view: string;
  readonly params: Params;
}

/** What a view shows. */
export type Params = Readonly<Record<string, string>>;

/** Ids that say whose memory is looked at; they stay from view to view. */
const whose = ["tenant", "user", "app"] as const;

/** The place that a fragment says: "#/memories?user=ana". */
function parsePlace(fragment: string): Place {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  return {
    view: decodeURIComponent(path) || "overview",
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The fragment of a place, without params that are empty. */
export function hrefOf({ view, params }: Place): string {
  const given = Object.entries(params).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  return `#/${encodeURIComponent(view)}${query && `?${query}`}`;
}

/** Only what says whose memory it is. */
export function whoseOf(params: Params): Params {
  return Object.fromEntries(whose.flatMap((id) => (params[id] ? [[id, params[id]]] : [])));
}

/** The same as a query of the API. */
export function scopeQuery(params: Params): Record<string, string> {
  return Object.fromEntries(whose.flatMap((id) => (params[id] ? [[`${id}Id`, params[id]]] : [])));
}

/** Whose `scope` is, as params. */
export function paramsOf(scope: {
  readonly tenantId?: string;
  readonly userId?: string;
  readonly appId?: string;
}): Params {
  const { tenantId = "", userId = "", appId = "" } = scope;
  return whoseOf({ tenant: tenantId, user: userId, app: appId });
}

/** Goes to a place; with `replaces`, going back skips the one before. */
export function go(place: Place, { replaces = false } = {}): void {
  if (replaces) location.replace(hrefOf(place));
  else location.hash = hrefOf(place);
}

/** Somebody in a few letters: "acme / ana / mail". */
export function nameOf({ tenant, user, app }: Params): string {
  return [tenant, user, app].filter(Boolean).join(" / ");
}

/** The place that is looked at, whenever it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => parsePlace(location.hash));
  useEffect(() => {
    const moved = () => setPlace(parsePlace(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return place;
}
