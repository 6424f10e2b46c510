import { orNull } from "../api.js";
import type { Memory } from "../api-types.js";
import { paramsOf } from "../place.js";
import { type Ask, QueryResult, useQuery } from "./query.js";
import { When, Words } from "./texts.js";

/** A removal that rests on a user's words. */
interface ForgetRequest {
  readonly id: string;
  readonly quote: string;
  readonly at: string;
}

/** Warns of memories that their user asked to forget, in the user's words. */
export function ForgetRequests({ memories }: { memories: readonly Memory[] }) {
  const found = useQuery(
    async (ask) => (await Promise.all(memories.map((each) => requestOf(each, ask)))).flat(),
    [memories.map(({ id, revision }) => [id, revision])],
  );
  return (
    <QueryResult query={found}>
      {(requests) =>
        requests.map(({ id, quote, at }) => (
          <div key={id} class="trouble">
            <p role="alert">
              The user asked to forget this (<When at={at} />
              ). It would come back against these words:
            </p>
            <blockquote dir="auto">
              <Words text={quote} />
            </blockquote>
          </div>
        ))
      }
    </QueryResult>
  );
}

/** The latest removal of a memory that is still removed, where a user asked for it. */
async function requestOf({ id, scope, state }: Memory, ask: Ask): Promise<ForgetRequest[]> {
  if (state !== "soft_deleted") return [];
  const call = { ids: { id }, owner: paramsOf(scope) };
  const history = await orNull(ask("/memory/:id/history", call));
  const removal = history?.events.find(({ event }) => event === "DELETE");
  const changed = removal?.new as { evidence?: { quote?: string } } | null | undefined;
  const quote = changed?.evidence?.quote;
  return removal && quote ? [{ id, quote, at: removal.at }] : [];
}
