import { MemoryError } from "../errors.js";
import { type MemoryItem, type MemoryLifecycle, memoryStates } from "../memories/item/memory.js";
import {
  type CliCommand,
  type MemoryFlags,
  oneOf,
  wholeNumber,
  withDatabase,
  withMemory,
  withScope,
} from "./flags.js";
import { aligned, oneLine, print } from "./output.js";
import { useScope } from "./use-memory.js";

interface ListFlags extends MemoryFlags {
  readonly state?: MemoryLifecycle;
  readonly category?: string;
  readonly metadata?: Record<string, unknown>;
  readonly limit?: number;
  readonly after?: string;
}

/** `mnemograph list`: the memories of a user or an app. */
export const listCommand: CliCommand = {
  name: "list",
  description: "list the memories of a user or an app, newest first",
  examples: [["list --user ana --state soft_deleted", "what was removed and can be restored"]],
  flags: (command) =>
    withDatabase(withScope(command))
      .option("--state <state>", `those in this state: ${memoryStates.join(", ")}`, oneOf(memoryStates))
      .option("--category <name>", "only this category")
      .option("--metadata <json>", 'only with this in their metadata: \'{"source":"crm"}\'', json)
      .option("--limit <count>", "at most this many (default: 100)", wholeNumber(1_000))
      .option("--after <id>", "the next page: after this memory")
      .option("--config <file>", "YAML file with the application's settings, such as its categories"),
  run: list,
};

async function list(flags: ListFlags): Promise<void> {
  const { state = "active", category, metadata, limit, after } = flags;
  await useScope(flags, async (memory, scope) => {
    const found = await memory.memories.list({
      ...{ scope, states: [state], metadata, limit, after },
      ...(category !== undefined && { categories: [category] }),
    });
    print(flags, found, () => aligned(found.map(memoryRow)).join("\n") || "There are none.");
  });
}

function memoryRow({ id, kind, category, key, importance, pinned, expiresAt, text }: MemoryItem) {
  const field = key === null ? category : `${category}/${key}`;
  const until = expiresAt && `until ${expiresAt.toISOString()}`;
  const marks = [pinned && "pinned", until].filter(Boolean).join(", ");
  return [id, kind, field, `imp=${importance}`, marks || "-", text];
}

/** `mnemograph show`: all that is known of one memory. */
export const showCommand: CliCommand = {
  name: "show",
  description: "show all that is known of one memory, in whatever state",
  examples: [["show 6f1c2d3e-… --user ana", "with where it was learned, and whose word it is"]],
  flags: (command) =>
    withDatabase(withScope(command)).argument("<id>", "the memory's id, as `list` prints it"),
  run: show,
};

/** @throws MemoryError `NOT_FOUND` */
async function show(id: string, flags: MemoryFlags): Promise<void> {
  const found = await useScope(flags, (memory, scope) => memory.memories.get(id, { scope }));
  if (!found) throw new MemoryError("NOT_FOUND", `There is no memory ${id} in this scope.`);
  print(flags, found, () => aligned(Object.entries(found).flatMap(part)).join("\n"));
}

/** What a memory has; what it has not says nothing. */
function part([name, value]: [string, unknown]): [string, string][] {
  if (value === null || value === "") return [];
  if (value instanceof Date) return [[name, value.toISOString()]];
  const said = typeof value === "object" ? JSON.stringify(value) : String(value);
  return said === "{}" || said === "[]" ? [] : [[name, said]];
}

interface AddFlags extends MemoryFlags {
  readonly category?: string;
  readonly key?: string;
  readonly value?: string;
  readonly importance?: number;
  readonly pin?: true;
  readonly metadata?: Record<string, unknown>;
  readonly expires?: string;
  readonly consent?: true;
  readonly actor?: string;
}

/** `mnemograph add`: a memory by hand, on the operator's word. */
export const addCommand: CliCommand = {
  name: "add",
  description: "add a memory on your own word, as an operator",
  examples: [
    ['add "Is vegan." --user ana --category preferences --key diet --value vegan'],
    ['add "Has a cold." --user ana --expires 2026-12-24', "hidden by itself from then on"],
  ],
  flags: (command) =>
    withMemory(withScope(command), "give it a vector, with the embeddings a file or package exports")
      .argument("<text>", "a sentence or two, in the third person")
      .option("--category <name>", "its category (default: knowledge)")
      .option("--key <name>", "make it a slot, which holds one value")
      .option("--value <text>", "the value of the slot")
      .option("--importance <1-5>", "from 1 (trivia) to 5 (vital) (default: 3)", wholeNumber(5))
      .option("--pin", "never forgotten by age")
      .option("--metadata <json>", 'what to note beside it: \'{"source":"crm"}\'', json)
      .option("--expires <time>", "hide it from then on: a date or a time in ISO 8601")
      .option("--consent", "the user agreed, where a field needs consent")
      .option("--actor <name>", "who adds it, for the audit trail (default: cli)"),
  run: add,
};

/** @throws MemoryError as `memory.memories.add` does; `INVALID_INPUT` when it cannot be a memory. */
async function add(text: string, flags: AddFlags): Promise<void> {
  const {
    category,
    key,
    value,
    importance,
    pin,
    metadata,
    expires: expiresAt,
    consent,
    actor = "cli",
  } = flags;
  await useScope(flags, async ({ memories }, scope) => {
    const draft = { text, category, key, value, importance, metadata, expiresAt, pinned: pin };
    const access = { scope, actor, ...(consent && { consent: "given" as const }) };
    const [added] = await memories.add({ ...draft, origin: "operator" }, access);
    if (added?.outcome === "rejected") {
      throw new MemoryError("INVALID_INPUT", `That text cannot be a memory: ${added.problems.join(", ")}.`);
    }
    const where = added?.consentId ?? added?.id ?? "";
    const rest = added?.trimmed === undefined ? "" : `; not stored, add it by itself: ${added.trimmed}`;
    print(flags, added, () => oneLine(`${added?.outcome}: ${where}${rest}`));
  });
}

/** Reads a flag's value as a JSON object. */
function json(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Said below.
  }
  throw new MemoryError("INVALID_INPUT", `--metadata must be a JSON object such as {"source":"crm"}.`);
}
