import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";
import { numberBetween } from "../answers/fields.js";
import { change } from "../answers/memory-answers.js";
import { route } from "../route/route.js";

/** How often the database is asked: people who watch do not notice a second. */
const askEveryMs = 1_000;

/** How often something is sent where nothing happens: proxies end what is silent for half a minute. */
const beatEveryMs = 15_000;

/** Changes read at a time. */
const atOnce = 100;

type Changes = Awaited<ReturnType<Memory["changes"]["since"]>>["changes"];

/** Changes as they happen. */
export const changeStreamRoutes = {
  changeStream: route({
    ...{ method: "get", path: "/changes/stream", reach: "scope", streams: "events" },
    summary:
      "Changes as they happen, each an event `change` with its revision as id; `trimmed` where some are no longer kept",
    query: z.strictObject({
      /** @default changes from now on */
      since: numberBetween(0, Number.MAX_SAFE_INTEGER).optional(),
    }),
    answer: change,
    async call({ memory, whose, query, headers, signal }) {
      const last = headers.get("last-event-id");
      const known = last !== null && /^\d{1,15}$/.test(last) ? Number(last) : query.since;
      const since = known ?? (await memory.changes.since(0, { ...whose, limit: 1 })).revision;
      return streamed(eventsOf(memory, whose.scope, { since, signal }));
    },
  }),
};

/** The text of events, without end. */
async function* eventsOf(
  memory: Memory,
  scope: Scope,
  { since, signal }: { readonly since: number; readonly signal: AbortSignal },
): AsyncGenerator<string, void, void> {
  let after = since;
  let silentMs = 0;
  yield ": changes follow\n\n";
  while (!signal.aborted) {
    const { changes, trimmedTo } = await memory.changes.since(after, { scope, limit: atOnce });
    if (trimmedTo !== undefined) {
      // What was missed is told nowhere any more: who follows reads anew.
      after = Math.max(after, trimmedTo);
      yield `event: trimmed\nid: ${after}\ndata: ${JSON.stringify({ trimmedTo })}\n\n`;
    }
    if (changes.length > 0) {
      after = changes.at(-1)?.rev ?? after;
      silentMs = 0;
      yield changes.map(eventOf).join("");
    }
    if (changes.length === atOnce) continue;
    await sleep(askEveryMs, undefined, { signal }).catch(() => {});
    silentMs += askEveryMs;
    if (silentMs >= beatEveryMs) {
      silentMs = 0;
      yield ": nothing new\n\n";
    }
  }
}

function eventOf(told: Changes[number]): string {
  return `event: change\nid: ${told.rev}\ndata: ${JSON.stringify(told)}\n\n`;
}

/** `pieces` as the body of an answer, read no faster than it is taken. Ends them when the caller goes. */
function streamed(pieces: AsyncGenerator<string, void, void>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await pieces.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}
