import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

/** What is looked at: a view and what it shows, as the address's fragment holds it. */
export interface Place {
  readonly view: string;
  readonly params: Params;
}

/** What a view shows, and whose: ids of an owner are named as in the API. */
export type Params = Readonly<Record<string, string | undefined>>;

/** The place that is looked at, and by whom. */
export interface Here extends Place {
  /** The params that say whose memory it is. */
  readonly owner: Params;
  /** Whether an operator looks; a user sees their own memory. */
  readonly isOperator: boolean;
}

export const HereContext = createContext<Here>({
  view: "overview",
  params: {},
  owner: {},
  isOperator: false,
});

export const useHere = (): Here => useContext(HereContext);

/** The conversation that is looked at, for a call of the API about it. */
export function useThread() {
  const { owner, params } = useHere();
  return { owner, ids: { threadId: params.thread } };
}

/** The place that a fragment says: "#/memories?user=ana". */
function parsePlace(fragment: string): Place {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  return {
    view: decodeURIComponent(path) || "overview",
    params: Object.fromEntries(
      [...new URLSearchParams(query)].map(([name, value]) => [
        name.replace(/^(tenant|user|app)$/, "$1Id"),
        value,
      ]),
    ),
  };
}

/** The fragment of a place, without params that are empty. */
export function hrefOf(view: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    if (value) query.set(name.replace(/Id$/, ""), value);
  return `#/${encodeURIComponent(view)}${query.size > 0 ? `?${query}` : ""}`;
}

/** Only what says whose memory it is: it stays from view to view. */
export function ownerOf({ tenantId, userId, appId }: Params): Params {
  return { tenantId, userId, appId };
}

/** Goes to a place. */
export function go(view: string, params: Params): void {
  location.hash = hrefOf(view, params);
}

/** Somebody in a few letters: "acme / ana / mail". */
export function nameOf({ tenantId, userId, appId }: Params): string {
  return [tenantId, userId, appId].filter(Boolean).join(" / ");
}

/** The place of the address, whenever it changes. */
export function useAddress(): Place {
  const [place, setPlace] = useState(() => parsePlace(location.hash));
  useEffect(() => {
    const moved = () => setPlace(parsePlace(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return place;
}
