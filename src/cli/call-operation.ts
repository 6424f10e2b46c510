import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { described } from "../http/answers/fields.js";
import { type OperatorCaller, whoseOf } from "../http/route/caller.js";
import { namedIds, nothing, type Route } from "../http/route/route.js";
import { routes } from "../http/routes.js";
import type { Memory } from "../memory.js";
import { nearestName, parseInput, revisionNumber } from "../text/parse-input.js";

const operations = routes as unknown as Readonly<Record<string, Route>>;

/** Each operation and what it does. */
export function listOperations(): [name: string, summary: string][] {
  return Object.entries(operations).map(([name, { summary }]) => [name, summary]);
}

/** What an operation does and takes. @throws MemoryError `INVALID_INPUT` for one that there is not */
export function describeOperation(name: string): string {
  const { summary, method, path, streams, ...route } = operationOf(name);
  const schema = z.toJSONSchema(schemaOf(route), {
    ...{ io: "input", metadata: described, unrepresentable: "any", reused: "inline" },
  });
  const lines = streams === "in" ? "\nStandard input is its body, line by line." : "";
  const takes = JSON.stringify({ ...schema, $schema: undefined }, null, 2);
  return `${name}: ${summary} (${method.toUpperCase()} ${path})${lines}\nWhat --json takes, as JSON Schema:\n${takes}`;
}

/** An operation, ready to be done. */
type Prepared = (memory: Memory) => Promise<void>;

/**
 * The operation `name` with `json` as its input, which is checked before anything is opened.
 *
 * @param named ids that say whose memory it is; those in `json` come first.
 * @throws MemoryError `INVALID_INPUT` that names each wrong field; `SCOPE_REQUIRED`
 */
export async function prepareOperation(
  name: string,
  json: string | undefined,
  named: Readonly<Record<string, string | undefined>>,
  caller: OperatorCaller & { readonly actor: string },
): Promise<Prepared> {
  const route = operationOf(name);
  const { params, query, body } = partsOf(route);
  const given = { ...named, ...(await readJson(json)) };
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  const inUrl = { ...params, ...query };
  const typed = known.map(([key, value]) => [key, Object.hasOwn(inUrl, key) ? asInUrl(value) : value]);
  const input: Record<string, unknown> = parseInput(
    schemaOf(route),
    Object.fromEntries(typed),
    `input of ${name}`,
  );
  const take = (shape: object) =>
    Object.fromEntries(Object.entries(input).filter(([key]) => Object.hasOwn(shape, key)));
  const { appId, ...ids } = namedIds.shape;
  const whose = whoseOf(
    route.reach,
    caller,
    take(Object.hasOwn(params, "appId") ? ids : { ...ids, appId }),
    input.appId as string | undefined,
  );
  const { ifRevision } = input;
  const asked = {
    ...{ caller, whose, actor: caller.actor, signal: new AbortController().signal, stream: process.stdin },
    ...{ params: take(params), query: take(query), body: take(body) },
    match: ifRevision === undefined ? {} : { ifRevision },
  };
  return async (memory) => {
    const answer: unknown = await route.call({ ...asked, memory } as Parameters<Route["call"]>[0]);
    if (!(answer instanceof Response)) console.log(JSON.stringify(answer));
    else if (answer.body)
      await pipeline(Readable.fromWeb(answer.body as never), process.stdout, { end: false });
  };
}

function operationOf(name: string): Route {
  const found = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (found) return found;
  const names = Object.keys(operations);
  const near = nearestName(name, names);
  const hint = near === null ? `There are: ${names.join(", ")}.` : `Did you mean "${near}"?`;
  throw new MemoryError("INVALID_INPUT", `There is no operation "${name}". ${hint}`);
}

/** Fields of the path, the query and the body: every part of every route is an object. */
function partsOf({
  params = nothing,
  query = nothing,
  body = nothing,
}: Pick<Route, "params" | "query" | "body">) {
  const shape = (part: z.ZodType) => (part as z.ZodObject).shape;
  return { params: shape(params), query: shape(query), body: shape(body) };
}

function schemaOf(route: Pick<Route, "params" | "query" | "body" | "versioned">): z.ZodObject {
  const { params, query, body } = partsOf(route);
  const guard = route.versioned ? { ifRevision: revisionNumber.optional() } : {};
  return z.strictObject({ ...namedIds.shape, ...params, ...query, ...body, ...guard });
}

async function readJson(json = "{}"): Promise<object> {
  const words = json === "-" ? await text(process.stdin) : json;
  try {
    const value: unknown = JSON.parse(words);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch (cause) {
    throw new MemoryError("INVALID_INPUT", `--json is no JSON: ${(cause as Error).message}`, { cause });
  }
  throw new MemoryError("INVALID_INPUT", "--json must be an object.");
}

/** A value as an address has it: routes read numbers and yes or no from text. */
function asInUrl(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asInUrl);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}
