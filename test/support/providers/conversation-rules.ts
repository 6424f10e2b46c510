import type { ModelRequest, NamedSchema, Refusal, RequestMessage } from "./provider.js";
import { type SchemaRule, schemaFault } from "./schema-rules.js";

/** Where a rule is broken, and by which ids, field or role. */
interface Found {
  readonly place: string;
  readonly what: string;
}

const found = (at: { place: string } | undefined, what = ""): Found | null =>
  at ? { place: at.place, what } : null;

const isSystem = ({ role }: RequestMessage) => role === "system";

/** The first turn with calls or results that the turn beside it does not match. */
function unmatched(
  { messages, turns = messages }: ModelRequest,
  mine: "calls" | "results",
  theirs: "calls" | "results",
  step: 1 | -1,
): Found | null {
  for (const [at, turn] of turns.entries()) {
    const missing = turn[mine].filter((id) => !turns[at + step]?.[theirs].includes(id));
    if (missing.length > 0) return found(turn, missing.join(", "));
  }
  return null;
}

const rules = {
  noMessages: ({ messages }) => (messages.length === 0 ? { place: "messages", what: "" } : null),
  unknownField: ({ messages }) => {
    const message = messages.find(({ unknown }) => unknown);
    return found(message, message?.unknown);
  },
  /** Neither text nor anything else. */
  noContent: ({ messages }) => {
    const message = messages.find(({ texts, hasMore }) => texts.length === 0 && !hasMore);
    return found(message, message?.role);
  },
  emptyText: ({ messages }) => found(messages.find(({ texts }) => texts.includes(""))),
  blankText: ({ messages }) =>
    found(messages.find(({ texts }) => texts.some((text) => text.trim() === ""))),
  /** User first, then turn about, after one system message; calls and results do not count. */
  alternating: ({ messages }) => {
    const [first, ...rest] = messages;
    const said = (first && isSystem(first) ? rest : messages).filter(
      ({ calls, results }) => calls.length + results.length === 0,
    );
    return found(said.find(({ role }, at) => role !== (at % 2 === 0 ? "user" : "assistant")));
  },
  answerable: ({ messages }) => {
    const last = messages.at(-1);
    return last?.role === "assistant" || last?.role === "system" ? found(last, last.role) : null;
  },
  noSystemInside: ({ messages }) => found(messages.find(isSystem)),
  /** Each result follows its call. */
  calledFor: (request) => unmatched(request, "results", "calls", -1),
  oneResultACall: ({ messages }) => {
    const isSecond = (id: string, at: number, ids: readonly string[]) => ids.indexOf(id) !== at;
    const message = messages.find(({ results }) => results.some(isSecond));
    return found(message, message?.results.find(isSecond));
  },
  /** Each call is followed by its result. */
  answered: (request) => unmatched(request, "calls", "results", 1),
} satisfies Record<string, (request: ModelRequest) => Found | null>;

/**
 * What a provider says of each rule that it has, in the order in which it looks. `{what}` and
 * `{place}` are filled in.
 */
export type Refusals = Partial<Record<keyof typeof rules, string>>;

export function brokenRule(
  request: ModelRequest,
  refusals: Refusals,
  refuse: (message: string, place: string, rule: string) => Refusal,
): Refusal | null {
  for (const [rule, message] of Object.entries(refusals)) {
    const broken = rules[rule as keyof typeof rules](request);
    if (!broken) continue;
    const { place, what } = broken;
    return refuse(message.replace("{what}", what).replace("{place}", place), place, rule);
  }
  return null;
}

/** The first schema that breaks `rule`. */
export function brokenSchema(
  { schemas }: ModelRequest,
  rule: SchemaRule,
  refuse: (schema: NamedSchema, fault: string) => Refusal,
): Refusal | null {
  for (const schema of schemas) {
    const fault = schema.isStrict ? schemaFault(schema.schema, rule) : null;
    if (fault) return refuse(schema, fault);
  }
  return null;
}

/** The first field that is not among `known`, separated by spaces. */
export const unknownField = (object: object, known: string): string | undefined =>
  Object.keys(object).find((field) => !known.split(" ").includes(field));

/** Items, those together that continue the one before; `at` is the place of the first. */
export function runsOf<Item>(
  items: readonly Item[],
  continues: (item: Item, before: Item) => boolean,
): { at: number; items: [Item, ...Item[]] }[] {
  const runs: { at: number; items: [Item, ...Item[]] }[] = [];
  for (const [at, item] of items.entries()) {
    const run = runs.at(-1);
    if (run && continues(item, run.items[0])) run.items.push(item);
    else runs.push({ at, items: [item] });
  }
  return runs;
}

/** The schemas of a request, and the one of them that the answer must fit. */
export const schemasOf = (schemas: readonly NamedSchema[], demandedTool: string | undefined) => ({
  schemas,
  toolNames: schemas.flatMap(({ of, name }) => (of === "tool" && name !== null ? name : [])),
  wanted: schemas.find(({ of, name }) => of === "format" || name === demandedTool) ?? null,
});
