import type { Operation } from "../operations/operation.js";
import { etagOf } from "./problem.js";

/** JSON, with the revision as ETag and the next page as Link. */
export function jsonResponse({ versioned, method }: Operation, request: Request, answer: unknown): Response {
  const headers = new Headers({ "cache-control": "no-store" });
  const { revision, nextCursor } = (answer ?? {}) as {
    readonly revision?: unknown;
    readonly nextCursor?: unknown;
  };
  if (versioned && typeof revision === "number") {
    const etag = etagOf(revision);
    headers.set("etag", etag);
    if (method === "get" && request.headers.get("if-none-match") === etag)
      return new Response(null, { status: 304, headers });
  }
  if (typeof nextCursor === "string") {
    // Relative: the app may be mounted anywhere.
    const query = new URL(request.url).searchParams;
    query.set("cursor", nextCursor);
    headers.set("link", `<?${query}>; rel="next"`);
  }
  return Response.json(answer, { headers });
}

/** Lines have some hundred characters, and each piece costs a call. */
const pieceCharacters = 65_536;

/** Awaits the first line, so that a refusal has its own status; reads on only as fast as the caller. */
export async function linesResponse(lines: AsyncIterable<unknown>, signal: AbortSignal): Promise<Response> {
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
