import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import type { Memory } from "../memory.js";
import { namedIds, type OperatorCaller, targetOf } from "../operations/caller.js";
import { described } from "../operations/fields.js";
import type { Operation } from "../operations/operation.js";
import { operationList } from "../operations/operations.js";
import { nearestName, parseInput, revisionNumber } from "../text/parse-input.js";

/** @throws MemoryError `INVALID_INPUT` for an unknown operation */
export function describeOperation(name: string): string {
  const operation = operationOf(name);
  const { does, method, path, lines } = operation;
  const options = { io: "input", metadata: described, unrepresentable: "any", reused: "inline" } as const;
  const takes = JSON.stringify(z.toJSONSchema(inputOf(operation), options), null, 2);
  const where = `${method.toUpperCase()} ${path}${lines === "in" ? ", its lines on standard input" : ""}`;
  return `${name}: ${does} (${where})\nWhat --json takes, as JSON Schema:\n${takes}`;
}

/** Checks the input before it opens anything; ids in `json` win. @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
export async function prepareOperation(
  name: string,
  json: string | undefined,
  named: Readonly<Record<string, string | undefined>>,
  caller: OperatorCaller & { readonly actor: string },
): Promise<(memory: Memory) => Promise<void>> {
  const operation = operationOf(name);
  const entries = Object.entries({ ...named, ...(await readJson(json)) });
  const given = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  const all: Record<string, unknown> = parseInput(inputOf(operation), given, `input of ${name}`);
  const take = (isTaken: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => isTaken(key)));
  const input = take((key) => key in operation.input.shape);
  const ofWhom = take((key) => key in namedIds.shape && !(key in input));
  const asked = {
    caller,
    actor: caller.actor,
    signal: new AbortController().signal,
    stream: process.stdin,
    target: targetOf(operation.reach, caller, ofWhom, input.appId as string | undefined),
    match: take((key) => key === "ifRevision"),
  };
  return async (memory) => {
    const answer = operation.call({ ...asked, memory }, input);
    if (operation.lines !== "out") return console.log(JSON.stringify(await answer));
    const lines = async function* () {
      for await (const line of answer as AsyncIterable<unknown>) yield `${JSON.stringify(line)}\n`;
    };
    await pipeline(lines, process.stdout, { end: false });
  };
}

function operationOf(name: string): Operation {
  const found = operationList.find(([known]) => known === name)?.[1];
  if (found) return found;
  const names = operationList.map(([known]) => known);
  const near = nearestName(name, names);
  const hint = near === null ? `There are: ${names.join(", ")}.` : `Did you mean "${near}"?`;
  throw new MemoryError("INVALID_INPUT", `There is no operation "${name}". ${hint}`);
}

/** Adds what HTTP takes from an operator's query and from `If-Match`. */
function inputOf({ input, versioned }: Operation): z.ZodObject {
  const guard = versioned ? { ifRevision: revisionNumber.optional() } : {};
  return z.strictObject({ ...namedIds.shape, ...input.shape, ...guard });
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
