import { type Call, orNull } from "../api.js";
import type { HistoryEntry, Memory } from "../api-types.js";
import { type Ask, QueryResult, useQuery } from "./query.js";
import { When, Words } from "./texts.js";

/** A memory's audit trail, newest first; one that came without it has none. */
export async function readHistory(ask: Ask, call: Call): Promise<readonly HistoryEntry[]> {
  const history = await orNull(ask("/memory/:id/history", call));
  return (history?.events ?? []) as HistoryEntry[];
}

/** Warns of a removed memory that its user asked to forget, in the user's words. */
export function ForgetRequest({ memory }: { memory: Memory }) {
  const { id, scope, state, revision } = memory;
  const found = useQuery(
    async (ask) => {
      if (state !== "soft_deleted") return null;
      const call = { ids: { id }, owner: scope };
      const events = await readHistory(ask, call);
      return events.find(({ event }) => event === "DELETE") ?? null;
    },
    [id, revision],
  );
  return (
    <QueryResult query={found}>
      {(removal) => {
        const quote = removal?.new?.evidence?.quote;
        if (!removal || !quote) return null;
        return (
          <div class="trouble">
            <p role="alert">
              The user asked to forget this (<When at={removal.at} />
              ). It would come back against these words:
            </p>
            <blockquote dir="auto">
              <Words text={quote} />
            </blockquote>
          </div>
        );
      }}
    </QueryResult>
  );
}
