import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { parseInput } from "../../text/parse-input.js";
import type { NamedIds } from "./caller.js";
import { HttpProblem } from "./problem.js";
import { nothing, type Route } from "./route.js";

/** What a request says. */
export interface ReadRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly named: NamedIds;
  readonly match: { readonly ifRevision?: number };
}

/** Bytes of a body of JSON: thousands of memories, or a round with long messages. */
export const defaultBodyBytes = 4_000_000;
/** Bytes of an export that is imported: it is never held whole, but takes time and space. */
export const defaultImportBytes = 1_000_000_000;

/**
 * `request`, checked by what `route` takes. Its body is read, unless it comes in lines.
 *
 * @throws MemoryError `INVALID_INPUT` that names each wrong field; HttpProblem `TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`
 */
export async function readRequest(
  route: Route,
  request: Request,
  params: Readonly<Record<string, string>>,
  maxBodyBytes: number,
): Promise<ReadRequest> {
  const { named, rest } = splitQuery(new URL(request.url).searchParams);
  return {
    params: parseInput(route.params ?? nothing, params, "path"),
    query: parseInput(route.query ?? nothing, rest, "query"),
    named,
    match: matchOf(route, request),
    body: route.streams === "in" ? undefined : await readJson(route, request, maxBodyBytes),
  };
}

const ids = ["tenantId", "userId", "appId"] as const;
const namedSchema = z.strictObject({
  tenantId: z.string().optional(),
  userId: z.string().optional(),
  appId: z.string().optional(),
});

function splitQuery(search: URLSearchParams) {
  const values: Record<string, string | string[]> = Object.create(null);
  for (const name of new Set(search.keys())) {
    const all = search.getAll(name);
    values[name] = all.length === 1 ? (all[0] as string) : all;
  }
  const isId = ([name]: [string, unknown]) => (ids as readonly string[]).includes(name);
  const named = Object.fromEntries(Object.entries(values).filter(isId));
  return {
    named: parseInput(namedSchema, named, "query") as NamedIds,
    rest: Object.fromEntries(Object.entries(values).filter((entry) => !isId(entry))),
  };
}

/** One revision as an ETag, weak or not, as caches on the way may have made it. */
const revisionTag = /^(?:W\/)?"(\d{1,10})"$/;

/** @throws MemoryError `INVALID_INPUT`: a condition that is not heeded would lose the change that it is to guard. */
function matchOf({ versioned, method }: Route, request: Request): ReadRequest["match"] {
  const condition = request.headers.get("if-match");
  if (condition === null || condition.trim() === "*") return {};
  const [, revision] = revisionTag.exec(condition.trim()) ?? [];
  if (versioned && method !== "get" && revision !== undefined && Number(revision) > 0)
    return { ifRevision: Number(revision) };
  throw new MemoryError(
    "INVALID_INPUT",
    versioned && method !== "get"
      ? `If-Match must be one ETag as it was answered, such as "3", and not ${condition.slice(0, 100)}.`
      : "If-Match is for changes of what has an ETag.",
  );
}

async function readJson(route: Route, request: Request, maxBodyBytes: number): Promise<unknown> {
  const text = new TextDecoder().decode(await readBytes(request, maxBodyBytes));
  if (text.trim() === "") return parseInput(route.body ?? nothing, {}, "body");
  const type = request.headers.get("content-type") ?? "";
  // A form of another site cannot send it unasked.
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type.trim())) {
    throw new HttpProblem(
      "UNSUPPORTED_MEDIA_TYPE",
      "The body must be JSON: send Content-Type: application/json.",
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MemoryError("INVALID_INPUT", "The body is no JSON.", { cause });
  }
  return parseInput(route.body ?? nothing, value, "body");
}

/** All of the body of `request`. @throws HttpProblem `TOO_LARGE` */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bodyWithin(request, maxBytes)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * The body of `request` piece by piece, as far as it is not too long.
 *
 * @throws HttpProblem `TOO_LARGE`, before anything is read where the request says how long it is.
 */
export async function* bodyWithin(request: Request, maxBytes: number): AsyncGenerator<Uint8Array> {
  const tooLarge = () => new HttpProblem("TOO_LARGE", `The body is longer than ${maxBytes} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  if (request.body === null) return;
  let bytes = 0;
  for await (const piece of request.body as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw tooLarge();
    yield piece;
  }
}
