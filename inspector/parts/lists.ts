import { ask } from "../api.js";
import { type Params, whoseOf } from "../place.js";
import { type Asked, useAsked } from "./asked.js";

/** A page of a list of the API, whose path names its rows. */
export function useList<Row>(
  path: "jobs" | "consents" | "memories" | "threads",
  params: Params,
  query: Readonly<Record<string, string | number | undefined>>,
): Asked<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const whose = whoseOf(params);
  return useAsked(
    async (signal) => {
      const page = await ask<Record<string, unknown>>(path, { whose, signal, query });
      return { rows: page[path] as readonly Row[], next: page.nextCursor as string | null };
    },
    [whose, query],
  );
}
