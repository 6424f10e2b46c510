import type {
  GetOperation,
  ListNamespacesOperation,
  Operation,
  PutOperation,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseInput, smallCount, storableText } from "../text/parse-input.js";
import type { Json } from "../text/plain-json.js";
import { type FilterCondition, parseFilter } from "./item-filter.rule.js";
import { storableJson } from "./storable-json.rule.js";
import { allFields, indexFields, type StoreOptions, ttlMinutes } from "./store-options.js";

interface Place {
  readonly namespace: readonly string[];
  /** `pathOf` its namespace. */
  readonly path: string;
}

export interface Get extends Place {
  readonly kind: "get";
  readonly key: string;
}

/** A null value deletes the item. */
export interface Put extends Place {
  readonly kind: "put";
  readonly key: string;
  readonly value: Json;
  /** Null: it is found by no query. */
  readonly indexFields: readonly string[] | null;
  readonly ttlMinutes: number | null;
}

export interface Search extends Place {
  readonly kind: "search";
  readonly conditions: readonly FilterCondition[];
  /** Null: all that fit the filter, the newest first. */
  readonly query: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** "*" stands for any label. */
export interface LabelMatch {
  readonly at: "prefix" | "suffix";
  readonly labels: readonly string[];
}

export interface ListNamespaces extends Place {
  readonly kind: "list";
  readonly matches: readonly LabelMatch[];
  readonly maxDepth: number | null;
  readonly limit: number;
  readonly offset: number;
}

export type StoreOperation = Get | Put | Search | ListNamespaces;

/** `namespace` as a text of which whole labels in front are a prefix: each label as JSON, a comma after it. */
export function pathOf(namespace: readonly string[]): string {
  return namespace.map((label) => `${JSON.stringify(label)},`).join("");
}

const label = storableText.min(1, "must not be empty");
const prefix = z.array(label);
const namespace = prefix.min(1, "must have a label");
const key = storableText;
const paging = { limit: smallCount.nullish(), offset: smallCount.nullish() };

const getSchema = z.strictObject({ namespace, key });

const putSchema = z.strictObject({
  ...{ namespace, key, value: z.unknown() },
  index: z.union([z.literal(false), indexFields]).nullish(),
  /** As PostgresStore has it. */
  options: z.strictObject({ ttl: ttlMinutes.nullish() }).nullish(),
});

const searchSchema = z.strictObject({
  ...{ namespacePrefix: prefix, filter: z.unknown().optional(), query: storableText.nullish() },
  ...paging,
});

const listSchema = z.strictObject({
  matchConditions: z
    .array(z.strictObject({ matchType: z.enum(["prefix", "suffix"]), path: prefix }))
    .nullish(),
  maxDepth: smallCount.min(1).nullish(),
  ...paging,
});

/** Told apart as LangGraph's stores do. @throws MemoryError `INVALID_INPUT` */
export function parseOperation(operation: Operation, options: StoreOptions): StoreOperation {
  if (typeof operation !== "object" || operation === null) {
    throw new MemoryError("INVALID_INPUT", "Invalid operation of the store: it must be an object.");
  }
  if ("namespacePrefix" in operation) return parseSearch(operation);
  if ("value" in operation) return parsePut(operation, options);
  if ("key" in operation) return parseGet(operation);
  return parseList(operation);
}

function parseGet(operation: GetOperation): Get {
  const { namespace, key } = parseInput(getSchema, operation, "get of the store");
  return { kind: "get", namespace, path: pathOf(namespace), key };
}

function parsePut(operation: PutOperation, options: StoreOptions): Put {
  const { value, index, ...parsed } = parseInput(putSchema, operation, "put of the store");
  const fields = index === false ? null : (index ?? allFields);
  return {
    ...{ kind: "put", namespace: parsed.namespace, path: pathOf(parsed.namespace), key: parsed.key },
    value: storableJson(value, `value of ${JSON.stringify(parsed.key)} (null deletes it)`),
    indexFields: fields,
    ttlMinutes: parsed.options?.ttl ?? options.ttlMinutes ?? null,
  };
}

function parseSearch(operation: SearchOperation): Search {
  const { namespacePrefix, filter, query, limit, offset } = parseInput(
    searchSchema,
    operation,
    "search of the store",
  );
  return {
    ...{ kind: "search", namespace: namespacePrefix, path: pathOf(namespacePrefix) },
    conditions: parseFilter(filter),
    query: query === undefined || query === null || query.trim() === "" ? null : query,
    ...{ limit: limit ?? 10, offset: offset ?? 0 },
  };
}

function parseList(operation: ListNamespacesOperation): ListNamespaces {
  const parsed = parseInput(listSchema, operation, "list of the store's namespaces");
  const matches = (parsed.matchConditions ?? []).map(
    ({ matchType, path }): LabelMatch => ({ at: matchType, labels: path }),
  );
  const known = knownPrefix(matches.find(({ at }) => at === "prefix")?.labels ?? []);
  return {
    ...{ kind: "list", namespace: known, path: pathOf(known), matches },
    ...{ maxDepth: parsed.maxDepth ?? null, limit: parsed.limit ?? 100, offset: parsed.offset ?? 0 },
  };
}

function knownPrefix(labels: readonly string[]): readonly string[] {
  const any = labels.indexOf("*");
  return any === -1 ? labels : labels.slice(0, any);
}
