import { askOrNull, path } from "../api.js";
import type { HistoryEntry, Memory } from "../api-types.js";
import { paramsOf } from "../place.js";
import { Answer, useAsked } from "./asked.js";
import { When, Words } from "./texts.js";

/** A removal that rests on a user's words. */
interface ForgetRequest {
  readonly id: string;
  readonly quote: string;
  readonly at: string;
}

/** Warns of memories that their user asked to forget, in the user's words. */
export function ForgetRequests({ memories }: Readonly<{ memories: readonly Memory[] }>) {
  const asked = useAsked(
    async (signal) => (await Promise.all(memories.map((each) => requestOf(each, signal)))).flat(),
    [memories.map(({ id, revision }) => [id, revision])],
  );
  return (
    <Answer asked={asked}>
      {(requests) => (
        <>
          {requests.map(({ id, quote, at }) => (
            <div key={id} class="trouble">
              <p role="alert">
                The user asked to forget this (<When at={at} />
                ). It would come back against these words:
              </p>
              <blockquote dir="auto">
                <Words text={quote} />
              </blockquote>
            </div>
          ))}
        </>
      )}
    </Answer>
  );
}

/** The latest removal of a memory that is still removed, where a user asked for it. */
async function requestOf(memory: Memory, signal: AbortSignal): Promise<ForgetRequest[]> {
  if (memory.state !== "soft_deleted") return [];
  const { id, scope } = memory;
  const call = { whose: paramsOf(scope), signal };
  const history = await askOrNull<{ readonly events: readonly HistoryEntry[] }>(
    path`memory/${id}/history`,
    call,
  );
  const removal = history?.events.find(({ event }) => event === "DELETE");
  const evidence = (removal?.new as { readonly evidence?: { readonly quote?: string } } | null)
    ?.evidence;
  return removal && evidence?.quote ? [{ id, quote: evidence.quote, at: removal.at }] : [];
}
