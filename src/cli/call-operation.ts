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
  const route = operationOf(name);
  const options = { io: "input", metadata: described, unrepresentable: "any", reused: "inline" } as const;
  const takes = JSON.stringify(z.toJSONSchema(inputOf(route), options), null, 2);
  const where = `${route.method.toUpperCase()} ${route.path}${route.streams === "in" ? ", its body on standard input" : ""}`;
  return `${name}: ${route.summary} (${where})\nWhat --json takes, as JSON Schema:\n${takes}`;
}

/**
 * The operation `name` with `json` as its input, which is checked before anything is opened; it prints its answer.
 *
 * @param named ids that say whose memory it is; those in `json` come first.
 * @throws MemoryError `INVALID_INPUT` that names each wrong field; `SCOPE_REQUIRED`
 */
export async function prepareOperation(
  name: string,
  json: string | undefined,
  named: Readonly<Record<string, string | undefined>>,
  caller: OperatorCaller & { readonly actor: string },
): Promise<(memory: Memory) => Promise<void>> {
  const route = operationOf(name);
  const [params, query, body] = [shapeOf(route.params), shapeOf(route.query), shapeOf(route.body)];
  const given = Object.entries({ ...named, ...(await readJson(json)) }).map(([key, value]) => [
    ...[key, key in params || key in query ? asInUrl(value) : value],
  ]);
  const known = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const input: Record<string, unknown> = parseInput(inputOf(route), known, `input of ${name}`);
  const take = (shape: object) => Object.fromEntries(Object.entries(input).filter(([key]) => key in shape));
  const { appId, ...ids } = namedIds.shape;
  const ofWhom = take("appId" in params ? ids : { ...ids, appId });
  const asked = {
    ...{ caller, actor: caller.actor, signal: new AbortController().signal, stream: process.stdin },
    whose: whoseOf(route.reach, caller, ofWhom, input.appId as string | undefined),
    ...{ params: take(params), query: take(query), body: take(body), match: take({ ifRevision: true }) },
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

/** Its path, its query and its body are objects, whose fields have names of their own. */
function inputOf({ params, query, body, versioned }: Route): z.ZodObject {
  const guard = versioned ? { ifRevision: revisionNumber.optional() } : {};
  return z.strictObject({
    ...{ ...namedIds.shape, ...shapeOf(params), ...shapeOf(query), ...shapeOf(body), ...guard },
  });
}

function shapeOf(part: z.ZodType = nothing): z.ZodObject["shape"] {
  return (part as z.ZodObject).shape;
}

async function readJson(json = "{}"): Promise<object> {
  const words = json === "-" ? await text(process.stdin) : json;
  let value: unknown;
  try {
    value = JSON.parse(words);
  } catch (cause) {
    throw new MemoryError("INVALID_INPUT", `--json is no JSON: ${(cause as Error).message}`, { cause });
  }
  return parseInput(z.record(z.string(), z.unknown()), value, "--json");
}

/** A value as an address has it: routes read numbers and yes or no from text. */
function asInUrl(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asInUrl);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}
