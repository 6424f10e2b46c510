import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { Memory } from "mnemograph";
import { defined, MemoryError, parseInput, revisionNumber, suggestion } from "mnemograph/contract";
import { z } from "zod";
import { type OperatorCaller, ownerIdFields, targetOf } from "../operations/caller.js";
import { jsonSchemaOf } from "../operations/fields.js";
import type { Operation } from "../operations/operation.js";
import { operationList } from "../operations/operations.js";

/** @throws MemoryError `INVALID_INPUT` for an unknown operation */
export function describeOperation(name: string): string {
  const operation = operationOf(name);
  const { does, method, path, lines } = operation;
  const takes = JSON.stringify(jsonSchemaOf(inputOf(operation), "input"), null, 2);
  const where = `${method.toUpperCase()} ${path}${lines === "in" ? ", its lines on standard input" : ""}`;
  return `${name}: ${does} (${where})\nWhat --json takes, as JSON Schema:\n${takes}`;
}

/**
 * Checks the input, and opens nothing. Ids in `json` take precedence over `named`.
 * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
 */
export async function prepareOperation(
  name: string,
  json: string | undefined,
  named: Readonly<Record<string, string | undefined>>,
  caller: OperatorCaller & { readonly actor: string },
): Promise<(memory: Memory) => Promise<void>> {
  const operation = operationOf(name);
  const given = defined({ ...named, ...(await readInput(json)) });
  const all: Record<string, unknown> = parseInput(inputOf(operation), given, `input of ${name}`);
  const pick = (isPicked: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => isPicked(key)));
  const input = pick((key) => key in operation.input.shape);
  const owner = pick((key) => key in ownerIdFields.shape && !(key in input));
  const { signal } = new AbortController();
  const target = targetOf(operation.reach, caller, owner, input.appId as string | undefined);
  const match = pick((key) => key === "ifRevision");
  const context = { caller, actor: caller.actor, signal, stream: process.stdin, target, match };
  return async (memory) => {
    const answer = operation.call({ ...context, memory }, input);
    if (operation.lines !== "out") return console.log(JSON.stringify(await answer));
    const lines = async function* () {
      for await (const line of answer as AsyncIterable<unknown>) yield `${JSON.stringify(line)}\n`;
    };
    await pipeline(lines, process.stdout, { end: false });
  };
}

function operationOf(name: string): Operation {
  const found = operationList.find(([other]) => other === name)?.[1];
  if (found) return found;
  const names = operationList.map(([other]) => other);
  const hint = suggestion(name, names);
  throw new MemoryError(
    "INVALID_INPUT",
    `There is no operation "${name}"${hint ? `: ${hint}` : `. There are: ${names.join(", ")}.`}`,
  );
}

/** Adds the fields that HTTP takes from an operator's query and from `If-Match`. */
function inputOf({ input, versioned }: Operation): z.ZodObject {
  const guard = versioned ? { ifRevision: revisionNumber.optional() } : {};
  return z.strictObject({ ...ownerIdFields.shape, ...input.shape, ...guard });
}

async function readInput(json = "{}"): Promise<object> {
  const given = json === "-" ? await text(process.stdin) : json;
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch (cause) {
    throw new MemoryError("INVALID_INPUT", `--json is no JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
  return parseInput(z.record(z.string(), z.unknown()), value, "--json");
}
