import type { HonoRequest } from "hono";
import { inTime, MemoryError, parseInput, parseJson } from "mnemograph/contract";
import { z } from "zod";
import { ownerIdFields } from "../operations/caller.js";
import type { Operation } from "../operations/operation.js";
import { HttpProblem } from "./problem.js";

/** Thousands of memories, or a turn with long messages. */
export const defaultBodyBytes = 4_000_000;
/** Longest wait for the next piece of a body: a stalled sender holds a connection. */
const maxIdleMs = 30_000;
/** Imports are streamed. */
export const defaultImportBytes = 1_000_000_000;

const noFields = z.strictObject({});

export function requestParts({
  path,
  input,
  method,
}: Operation): Readonly<Record<"path" | "query" | "body", z.ZodObject>> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name, true]);
  const inPath = Object.fromEntries(names) as Record<string, true> & Record<number, never>;
  const others = input.omit(inPath);
  const isInQuery = method === "get" || method === "delete";
  return {
    path: input.pick(inPath),
    query: isInQuery ? others : noFields,
    body: isInQuery ? noFields : others,
  };
}

export async function readHttpRequest(
  operation: Operation,
  request: HonoRequest,
  maxBodyBytes: number,
) {
  const { path, query, body } = requestParts(operation);
  const given = Object.entries(request.queries()).map(([name, all]) => {
    return [name, all.length === 1 ? all[0] : all] as const;
  });
  const ids = given.filter(([name]) => name in ownerIdFields.shape);
  const others = given.filter(([name]) => !(name in ownerIdFields.shape));
  const typed = others.map(([name, value]) => [name, fromText(query.shape[name], value)]);
  const named = parseInput(ownerIdFields, Object.fromEntries(ids), "query");
  const inPath = parseInput(path, request.param(), "path");
  const input = { ...inPath, ...parseInput(query, Object.fromEntries(typed), "query") };
  const match = matchOf(operation, request.raw);
  const json = operation.lines === "in" ? {} : await readBody(request.raw, maxBodyBytes);
  return { input: { ...input, ...parseInput(body, json, "body") }, named, match };
}

/** Converts a query's text to the schema's type; the schema refuses the others. */
function fromText(schema: unknown, value: unknown): unknown {
  const { def } = (schema as z.core.$ZodType | undefined)?._zod ?? {};
  const { type, innerType, element } = (def ?? {}) as Readonly<Record<string, unknown>>;
  if (innerType) return fromText(innerType, value);
  if (type === "array") return [value].flat().map((one) => fromText(element, one));
  if (type === "union" && String(value).startsWith("{"))
    return parseJson(String(value), "The query");
  if (type === "number" && /^-?\d{1,15}$/.test(String(value))) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
}

/** Caches may have made the ETag weak. */
const revisionTag = /^(?:W\/)?"(\d{1,10})"$/;

/**
 * @throws MemoryError `INVALID_INPUT`: an ignored condition would lose the change that it guards.
 */
function matchOf(
  { versioned, method }: Operation,
  request: Request,
): { readonly ifRevision?: number } {
  const condition = request.headers.get("if-match")?.trim() ?? "*";
  if (condition === "*") return {};
  if (!versioned || method === "get")
    throw new MemoryError("INVALID_INPUT", "If-Match is for changes of what has an ETag.");
  const [, revision] = revisionTag.exec(condition) ?? [];
  if (revision !== undefined && Number(revision) > 0) return { ifRevision: Number(revision) };
  const message = `If-Match must be one ETag of an earlier answer, such as "3", not ${condition.slice(0, 100)}.`;
  throw new MemoryError("INVALID_INPUT", message);
}

async function readBody(request: Request, maxBodyBytes: number): Promise<unknown> {
  const text = new TextDecoder().decode(await readBytes(request, maxBodyBytes));
  if (text.trim() === "") return {};
  const type = request.headers.get("content-type") ?? "";
  // A form on another site cannot send this type.
  if (!/^application\/([\w.+-]+\+)?json\s*(?:;|$)/i.test(type.trim())) {
    const detail = "The body must be JSON: send Content-Type: application/json.";
    throw new HttpProblem("UNSUPPORTED_MEDIA_TYPE", detail);
  }
  return parseJson(text, "The body");
}

export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bodyWithin(request, maxBytes)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * @throws HttpProblem `TOO_LARGE`, before reading where the request states its length;
 * `REQUEST_TIMEOUT`
 */
export async function* bodyWithin(request: Request, maxBytes: number): AsyncGenerator<Uint8Array> {
  const tooLarge = () => new HttpProblem("TOO_LARGE", `The body is longer than ${maxBytes} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  if (request.body === null) return;
  const reader = request.body.getReader();
  const next = () => answerWithin(maxIdleMs, () => reader.read(), "more of the body");
  let bytes = 0;
  try {
    for (let piece = await next(); !piece.done; piece = await next()) {
      bytes += piece.value.byteLength;
      if (bytes > maxBytes) throw tooLarge();
      yield piece.value;
    }
  } finally {
    // Not awaited: a stalled sender may never answer.
    reader.cancel().catch(() => {});
  }
}

/**
 * Limits the wait, not the work, which has its own limits.
 * @throws HttpProblem `REQUEST_TIMEOUT`
 */
export function answerWithin<Result>(
  limitMs = 60_000,
  work: () => Promise<Result>,
  what = "answer",
): Promise<Result> {
  const message = `There was no ${what} within ${limitMs} ms.`;
  return inTime(limitMs, work(), () => new HttpProblem("REQUEST_TIMEOUT", message, 1));
}
