import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Memory } from "./api-types.js";

/** What is looked at: a view and what it shows, as the address's fragment holds it. */
export interface Place {
  readonly view: string;
  readonly params: Params;
}

/** What a view shows. */
export type Params = Readonly<Record<string, string>>;

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
  return { owner, ids: { threadId: params.thread ?? "" } };
}

/** Ids that say whose memory is looked at; they stay from view to view. */
const ownerIds = ["tenant", "user", "app"] as const;

/** The place that a fragment says: "#/memories?user=ana". */
function parsePlace(fragment: string): Place {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  return {
    view: decodeURIComponent(path) || "overview",
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The fragment of a place, without params that are empty. */
export function hrefOf(view: string, params: Params): string {
  const given = Object.entries(params).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  return `#/${encodeURIComponent(view)}${query && `?${query}`}`;
}

/** Only what says whose memory it is. */
export function ownerOf(params: Params): Params {
  return Object.fromEntries(ownerIds.flatMap((id) => (params[id] ? [[id, params[id]]] : [])));
}

/** The owner that `scope` names, as params. */
export function paramsOf({ tenantId = "", userId = "", appId = "" }: Memory["scope"]): Params {
  return { tenant: tenantId, user: userId, app: appId };
}

/** Goes to a place. */
export function go(view: string, params: Params): void {
  location.hash = hrefOf(view, params);
}

/** Somebody in a few letters: "acme / ana / mail". */
export function nameOf({ tenant, user, app }: Params): string {
  return [tenant, user, app].filter(Boolean).join(" / ");
}

/** The same of a scope. */
export const scopeName = (scope: Memory["scope"]): string => nameOf(paramsOf(scope));

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
