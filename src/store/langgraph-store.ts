import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { callback, parseInput } from "../input/parse-input.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import type { FoundItem } from "./read-items.js";
import { runBatch, type StoreRuntime } from "./run-batch.js";
import { type BatchedOperation, parseOperation } from "./store-operation.js";
import { type StoreConfig, type StoreOptions, storeOptionsSchema } from "./store-options.js";

/** Receives the namespace, for a search its prefix; and the `defaultScope` of `createMemory`. */
interface ScopeOfNamespace {
  (namespace: readonly string[], defaultScope: Scope | null): Scope;
  /** Whether it must be asked where the store is called. */
  readonly readsRun?: true;
}

/** Options of a store. The default of each is in `config.store`. */
export interface StoreInput extends StoreConfig {
  /**
   * The owner of the items: each scope sees only its own. Or a function from namespace to owner,
   * for one store of many users; `fromRun` gives that of the run which calls it. Without a scope
   * only namespaces separate users, and `forget` and `export` reach no item of a user.
   * @default `defaultScope`, else no owner
   */
  readonly scope?: Scope | ScopeOfNamespace | undefined;
}

/** A store on this memory's tables, for compiled graphs, agents and `getStore()`. */
export interface LangGraphStore extends BaseStore {
  /**
   * Stores an item; null deletes it.
   * @param options `ttl`: minutes to keep it, as in `PostgresStore`; `ifValue`: what it must still
   * be, null for no item
   * @throws MemoryError `STALE_REVISION` if it is not; `details.current` is what it is
   */
  put(
    namespace: string[],
    key: string,
    value: Record<string, unknown> | null,
    index?: false | string[],
    options?: PutOptions,
  ): Promise<void>;
}

interface PutOptions {
  readonly ttl?: number | undefined;
  readonly ifValue?: Readonly<Record<string, unknown>> | null | undefined;
}

const inputSchema = storeOptionsSchema.extend({
  scope: z.union([callback<ScopeOfNamespace>(), z.unknown()]).optional(),
});

/**
 * @param defaults the scope if `input` has none, null for a store without owner; or whether a scope
 * is required
 */
export function createStore(
  runtime: StoreRuntime,
  input: StoreInput = {},
  defaults: { readonly scope: Scope | null; readonly isRequired: boolean },
): LangGraphStore {
  const { scope, ...own } = parseInput(inputSchema, input, "store");
  const options: StoreOptions = { ...runtime.config.store, ...own };
  const isOfRun = typeof scope === "function" && "readsRun" in scope;
  const scopeOf = scopeOfStore(input, scope, defaults);
  return new ScopedStore({ runtime, options, scopeOf, isOfRun });
}

type ScopeOf = (namespace: readonly string[]) => Scope | null;

function scopeOfStore(
  input: StoreInput,
  scope: unknown,
  defaults: Parameters<typeof createStore>[2],
): ScopeOf {
  if (typeof scope === "function")
    return (namespace) => parseScope(scope([...namespace], defaults.scope));
  if ("scope" in input) {
    const parsed = parseScope(scope);
    return () => parsed;
  }
  if (!defaults.isRequired) return () => defaults.scope;
  throw new MemoryError(
    "SCOPE_REQUIRED",
    'With isolation: "rls" a store needs a scope: memory.store({ scope }), or a function from namespace to scope.',
  );
}

interface StoreDeps {
  readonly runtime: StoreRuntime;
  readonly options: StoreOptions;
  readonly scopeOf: ScopeOf;
  readonly isOfRun: boolean;
}

/** LangGraph recognises stores by their class. */
class ScopedStore extends BaseStore implements LangGraphStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    super();
    this.#deps = deps;
  }

  /**
   * LangGraph reads it of a graph's own store, which it then calls from a queue, outside of the
   * run.
   */
  get lg_name(): string {
    if (!this.#deps.isOfRun) return "LangGraphStore";
    throw new MemoryError(
      "SCOPE_REQUIRED",
      "A store with `scope: fromRun` cannot be a graph's own `store`: LangGraph calls that one outside of the run. Call it " +
        "by name in nodes and tools, and give it to backends: new StoreBackend({ store, namespace }). For getStore(), give " +
        "each run a store: graph.invoke(input, { …, store: memory.store({ scope: { userId: … } }) }).",
    );
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const { runtime, options, scopeOf } = this.#deps;
    // Check all operations before any runs.
    const parsed = operations.map((operation, n) => ({ ...parseOperation(operation, options), n }));
    // One statement for each scope; `n` says whose a row is.
    const rows: FoundItem[][] = operations.map(() => []);
    for (const { scope, batch } of byScope(parsed, scopeOf))
      for (const row of await runBatch(runtime, scope, batch)) rows[row.n]?.push(row);
    return parsed.map((each) => resultOf(each, rows[each.n] ?? [])) as OperationResults<Op>;
  }

  // LangGraph's own `get`, `put` and `delete` refuse labels with a full stop or a colon.
  override async get(namespace: string[], key: string): Promise<Item | null> {
    const [found] = await this.batch<[GetOperation]>([{ namespace, key }]);
    return found;
  }

  override async delete(namespace: string[], key: string): Promise<void> {
    await this.put(namespace, key, null);
  }

  // LangGraph's own drops unknown options, and so finds too much.
  override async search(
    namespacePrefix: string[],
    options: Parameters<BaseStore["search"]>[1] = {},
  ): Promise<SearchItem[]> {
    const [found] = await this.batch<[SearchOperation]>([{ ...options, namespacePrefix }]);
    return found;
  }

  override async listNamespaces(
    options: Parameters<BaseStore["listNamespaces"]>[0] = {},
  ): Promise<string[][]> {
    const { prefix, suffix, ...others } = options;
    const matchConditions: ListNamespacesOperation["matchConditions"] = [];
    if (prefix) matchConditions.push({ matchType: "prefix", path: prefix });
    if (suffix) matchConditions.push({ matchType: "suffix", path: suffix });
    const operation = { ...others, matchConditions } as ListNamespacesOperation;
    const [found] = await this.batch<[ListNamespacesOperation]>([operation]);
    return found;
  }

  override async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown> | null,
    index?: false | string[],
    options?: PutOptions,
  ): Promise<void> {
    await this.batch([{ namespace, key, value, index, options } as PutOperation]);
  }
}

function byScope(operations: readonly BatchedOperation[], scopeOf: ScopeOf) {
  const groups = new Map<string, { scope: Scope | null; batch: BatchedOperation[] }>();
  for (const operation of operations) {
    const scope = scopeOf(operation.namespace);
    const key = JSON.stringify(scopeColumns(scope ?? {}));
    const group = groups.get(key) ?? { scope, batch: [] };
    groups.set(key, group);
    group.batch.push(operation);
  }
  return groups.values();
}

function resultOf({ kind }: BatchedOperation, rows: readonly FoundItem[]) {
  const items = rows.map(({ namespace, key, value, createdAt, updatedAt, score }) => {
    return { namespace, key, value, createdAt, updatedAt, ...(score !== null && { score }) };
  });
  switch (kind) {
    case "put":
      return undefined;
    case "get":
      return items[0] ?? null;
    case "search":
      return items;
    case "list":
      return rows.map(({ namespace }) => namespace);
  }
}
