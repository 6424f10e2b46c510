import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseInput, smallCount, storableText } from "../input/parse-input.js";
import { parseItemFilter } from "./item-filter.rule.js";
import { storableJson } from "./storable-json.rule.js";
import { allFields, indexFields, type StoreOptions, ttlMinutes } from "./store-options.js";

/**
 * `namespace` as text: each label as JSON and a comma. A namespace's text is a prefix of those
 * below it.
 */
export function pathOf(namespace: readonly string[]): string {
  return namespace.map((label) => `${JSON.stringify(label)},`).join("");
}

const namespaceLabel = storableText.min(1, "must not be empty");
const prefix = z.array(namespaceLabel);
const namespace = prefix.min(1, "must have a label");
const key = storableText;
const paging = { limit: smallCount.nullish(), offset: smallCount.nullish() };

const getSchema = z.strictObject({ namespace, key });

const putSchema = z.strictObject({
  namespace,
  key,
  value: z.unknown(),
  index: z.union([z.literal(false), indexFields]).nullish(),
  /** `ttl` is that of `PostgresStore`. */
  options: z
    .strictObject({
      ttl: ttlMinutes.nullish(),
      ifValue: z.unknown().optional(),
    })
    .nullish(),
});

const searchSchema = z.strictObject({
  namespacePrefix: prefix,
  filter: z.unknown().optional(),
  query: storableText.nullish(),
  ...paging,
});

const listSchema = z.strictObject({
  matchConditions: z
    .array(z.strictObject({ matchType: z.enum(["prefix", "suffix"]), path: prefix }))
    .nullish(),
  maxDepth: smallCount.min(1).nullish(),
  ...paging,
});

/** Recognises operations as LangGraph's stores do. @throws MemoryError `INVALID_INPUT` */
export function parseOperation(operation: unknown, options: StoreOptions): StoreOperation {
  if (typeof operation !== "object" || operation === null)
    throw new MemoryError("INVALID_INPUT", "Invalid operation of the store: it must be an object.");
  if ("namespacePrefix" in operation) return parseSearch(operation);
  if ("value" in operation) return parsePut(operation, options);
  if ("key" in operation) return parseGet(operation);
  return parseList(operation);
}

type Get = Readonly<ReturnType<typeof parseGet>>;

function parseGet(operation: object) {
  const { namespace, key } = parseInput(getSchema, operation, "get of the store");
  return { kind: "get" as const, namespace, path: pathOf(namespace), key };
}

/**
 * A null `value` deletes the item; null `indexFields` hide it from queries. `ifValue`: what must be
 * there, if defined.
 */
export type Put = Readonly<ReturnType<typeof parsePut>>;

function parsePut(operation: object, options: StoreOptions) {
  const {
    namespace,
    key,
    value,
    index,
    options: own,
  } = parseInput(putSchema, operation, "put of the store");
  return {
    kind: "put" as const,
    namespace,
    path: pathOf(namespace),
    key,
    value: storableJson(value, `value of ${JSON.stringify(key)} (null deletes it)`),
    indexFields: index === false ? null : (index ?? allFields),
    ttlMinutes: own?.ttl ?? options.ttlMinutes ?? null,
    ifValue:
      own?.ifValue === undefined
        ? undefined
        : storableJson(own.ifValue, `ifValue of ${JSON.stringify(key)}`),
  };
}

/** Without a query: all items that meet the conditions, newest first. */
type Search = Readonly<ReturnType<typeof parseSearch>>;

function parseSearch(operation: object) {
  const { namespacePrefix, filter, query, limit, offset } = parseInput(
    searchSchema,
    operation,
    "search of the store",
  );
  return {
    kind: "search" as const,
    namespace: namespacePrefix,
    path: pathOf(namespacePrefix),
    conditions: parseItemFilter(filter),
    query: query === undefined || query === null || query.trim() === "" ? null : query,
    limit: limit ?? 10,
    offset: offset ?? 0,
  };
}

type ListNamespaces = Readonly<ReturnType<typeof parseList>>;

export type StoreOperation = Get | Put | Search | ListNamespaces;

/** `n` is its place in the batch. */
export type BatchedOperation = StoreOperation & { readonly n: number };

/** Labels at the start or end of a namespace; "*" matches any label. */
export type LabelMatch = ListNamespaces["matches"][number];

function parseList(operation: object) {
  const parsed = parseInput(listSchema, operation, "list of the store's namespaces");
  const matches = parsed.matchConditions ?? [];
  const labels = matches.find(({ matchType }) => matchType === "prefix")?.path ?? [];
  const wildcard = labels.indexOf("*");
  const namespace = wildcard === -1 ? labels : labels.slice(0, wildcard);
  return {
    kind: "list" as const,
    namespace,
    path: pathOf(namespace),
    matches,
    maxDepth: parsed.maxDepth ?? null,
    limit: parsed.limit ?? 100,
    offset: parsed.offset ?? 0,
  };
}
