import { z } from "zod";
import { splitLines } from "../../transfer/read-export.js";
import { anyObject, counts, scope } from "../answers/fields.js";
import { route } from "../route/route.js";
import { forgotten } from "./thread-routes.js";

/** What is kept of a scope as a whole: out, in, and gone. */
export const transferRoutes = {
  export: route({
    ...{ method: "get", path: "/export", reach: "scope", streams: "out" },
    summary: "What is kept, as lines of JSON; the last one says how many there were",
    answer: anyObject,
    call: async ({ memory, whose, signal }) => linesResponse(memory.export(whose.scope), signal),
  }),
  import: route({
    ...{ method: "post", path: "/import", reach: "counted", streams: "in", operators: true },
    summary: "Restore an export into an empty scope; an interrupted import is sent again",
    answer: z.strictObject({
      ...{ scope, lines: z.number(), written: counts, total: z.number(), quarantined: z.number() },
    }),
    call: ({ memory, whose, stream, signal }) => memory.import(splitLines(stream), { ...whose, signal }),
  }),
  forget: route({
    ...{ method: "post", path: "/forget", reach: "scope" },
    summary: "Delete everything for good, or with `dryRun` only count it; interrupted, the next call goes on",
    body: z.strictObject({ dryRun: z.boolean().optional() }),
    answer: forgotten,
    call: ({ memory, whose, body, signal }) => memory.forget(whose.scope, { ...body, signal }),
  }),
};

/** Characters sent at once: lines have some hundred, and each piece is a call of its own. */
const pieceCharacters = 65_536;

/**
 * `lines` as they come. The first is awaited before anything is answered, so that a refusal is one. Nobody reads on for a
 * caller that has gone, or that does not read: nothing is held meanwhile.
 */
async function linesResponse(lines: AsyncIterable<unknown>, signal: AbortSignal): Promise<Response> {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let next: IteratorResult<unknown> | null = await iterator.next();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let piece = "";
        while (piece.length < pieceCharacters) {
          next ??= await iterator.next();
          if (signal.aborted || next.done) break;
          piece += `${JSON.stringify(next.value)}\n`;
          next = null;
        }
        if (piece !== "") controller.enqueue(encoder.encode(piece));
        if (!signal.aborted && !next?.done) return;
        await iterator.return?.();
        if (signal.aborted) controller.error(signal.reason);
        else controller.close();
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" },
  });
}
