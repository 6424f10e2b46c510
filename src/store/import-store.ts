import { z } from "zod";
import { MemoryError } from "../errors.js";
import { identifier } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { asTenant } from "../postgres/isolation.js";
import { openDatabase } from "../postgres/open-database.js";
import { parseScope, type Scope } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import { abortSignal, listener, parseInput, storableText } from "../text/parse-input.js";
import { countForeign, type ForeignItem, findForeign, hasForeignVectors } from "./foreign-items.js";
import { embeddable, indexedTexts, itemTerms } from "./indexed-texts.rule.js";
import { findTaken, insertTaken, type TakenItem } from "./insert-taken.js";
import type { ScopeOfNamespace } from "./langgraph-store.js";
import type { StoreRuntime } from "./run-batch.js";
import { pathOf } from "./store-operation.js";

/** Which store of LangGraph's to take over, and how. */
export interface ImportStore {
  /** The schema that `PostgresStore` was given. @default "public" */
  readonly schema?: string | undefined;
  /** Connection string of the database that it is in. @default this memory's own */
  readonly from?: string | undefined;
  /** Whose the items become, or who tells it by the namespace; without it nobody's, as with `store`. */
  readonly scope?: Scope | ScopeOfNamespace | undefined;
  /**
   * "embed" makes vectors anew, with this memory's embeddings. "copy" takes those that there are, for who goes on with the
   * model that made them: that two models agree in dimensions does not make their vectors comparable. @default "embed"
   */
  readonly vectors?: "embed" | "copy" | undefined;
  /** Only count. @default false */
  readonly dryRun?: boolean | undefined;
  /** Items read, embedded and written at once, 1 to 1000. @default 100 */
  readonly batchSize?: number | undefined;
  /** Told at the start and after each batch, in items. */
  readonly onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
  /** Stops between two batches, with its reason as the error; run it again to go on. */
  readonly signal?: AbortSignal | undefined;
}

/** What was taken over, or would be. */
export interface ImportedStore {
  /** Items that were written. */
  readonly imported: number;
  /** Items whose name was taken here: what is here stays. An import that was interrupted finds here what it has done. */
  readonly present: number;
  /** Of those written: items with vectors. The others are found by words. */
  readonly withVectors: number;
}

const importSchema = z.strictObject({
  schema: storableText.default("public"),
  from: z.string().min(1).optional(),
  scope: z.union([listener<ScopeOfNamespace>(), z.unknown()]).optional(),
  vectors: z.enum(["embed", "copy"]).default("embed"),
  dryRun: z.boolean().default(false),
  batchSize: z.int().min(1).max(1_000).default(100),
  onProgress: listener<NonNullable<ImportStore["onProgress"]>>().optional(),
  signal: abortSignal.optional(),
});

/**
 * Takes over what LangGraph's `PostgresStore` holds, with the times it was written at and those it expires at. The store that
 * it is taken from stays as it is. A batch is kept once it is written: a run that was interrupted goes on where it was.
 *
 * @param refuseNobody whether a scope is needed.
 * @throws MemoryError `NOT_FOUND` where there is no such store, `DIMENSION_MISMATCH`, `EMBEDDING_FAILED`, `INVALID_INPUT`,
 *   `SCOPE_REQUIRED`
 */
export async function importStore(
  runtime: StoreRuntime,
  input: ImportStore,
  refuseNobody: boolean,
): Promise<ImportedStore> {
  const { schema, from, scope, vectors, dryRun, batchSize, onProgress, signal } = parseInput(
    importSchema,
    input,
    "import of a store",
  );
  if (refuseNobody && !("scope" in input)) {
    throw new MemoryError(
      "SCOPE_REQUIRED",
      'With isolation: "rls" the items need a scope, or a function that tells it.',
    );
  }
  if (vectors === "copy" && !runtime.embedder) {
    throw new MemoryError(
      "INVALID_INPUT",
      "Copying vectors needs the embeddings that made them: createMemory({ embeddings }).",
    );
  }
  const fixed = "scope" in input && typeof scope !== "function" ? parseScope(scope) : null;
  const scopeOf = (namespace: readonly string[]) =>
    typeof scope === "function" ? parseScope((scope as ScopeOfNamespace)([...namespace])) : fixed;
  const source = from === undefined ? runtime.db : openDatabase(from, { schemaName: schema }, runtime.logger);
  const tables = identifier(schema);
  const result = { imported: 0, present: 0, withVectors: 0 };
  try {
    const total = await asTenant(undefined, () => countForeign(source, tables, schema));
    const copies = vectors === "copy" && (await asTenant(undefined, () => hasForeignVectors(source, tables)));
    onProgress?.({ done: 0, total });
    for await (const items of pages(source, { tables, copies, limit: batchSize })) {
      signal?.throwIfAborted();
      for (const [named, of] of byScope(items, scopeOf)) {
        const done = await takeOver(runtime, { scope: named, items: of, vectors, dryRun });
        result.imported += done.imported;
        result.present += done.present;
        result.withVectors += done.withVectors;
      }
      const done = result.imported + result.present;
      onProgress?.({ done, total: Math.max(total, done) });
    }
  } finally {
    if (source !== runtime.db) await source.close();
  }
  return result;
}

async function* pages(
  source: Database,
  of: Pick<Parameters<typeof findForeign>[1], "tables" | "copies" | "limit">,
): AsyncGenerator<ForeignItem[]> {
  let after: ForeignItem | null = null;
  for (;;) {
    const items: ForeignItem[] = await asTenant(undefined, () => findForeign(source, { ...of, after }));
    if (items.length > 0) yield items;
    if (items.length < of.limit) return;
    after = items.at(-1) ?? null;
  }
}

function byScope(
  items: readonly ForeignItem[],
  scopeOf: (namespace: readonly string[]) => Scope | null,
): Map<Scope | null, ForeignItem[]> {
  const scopes = new Map<string, [Scope | null, ForeignItem[]]>();
  for (const item of items) {
    const scope = scopeOf(item.path.split(":"));
    const name = JSON.stringify(Object.values(scopeColumns(scope ?? {})));
    const group = scopes.get(name) ?? [scope, []];
    scopes.set(name, group);
    group[1].push(item);
  }
  return new Map(scopes.values());
}

async function takeOver(
  { db, embedder, redactor, config }: StoreRuntime,
  batch: {
    readonly scope: Scope | null;
    readonly items: readonly ForeignItem[];
    readonly vectors: "embed" | "copy";
    readonly dryRun: boolean;
  },
): Promise<ImportedStore> {
  const columns = scopeColumns(batch.scope ?? {});
  const inTenant = <Result>(work: () => Promise<Result>) => asTenant(columns.tenantId, work);
  // PostgresStore reads its namespaces like this, whatever they were written as.
  const named = batch.items.map((item) => {
    const namespace = item.path.split(":");
    return { ...item, namespace, path: pathOf(namespace) };
  });
  const taken = await inTenant(() => findTaken(db.patient, columns, named));
  const missing = named.filter((_, n) => !taken.has(n));
  const present = named.length - missing.length;
  if (batch.dryRun || missing.length === 0) return { imported: missing.length, present, withVectors: 0 };
  const { indexFields } = config.store;
  const items = await Promise.all(
    missing.map(async (item): Promise<TakenItem & Pick<ForeignItem, "vectors">> => {
      const value = await redactor.json(item.value);
      return { ...item, value, indexFields, terms: itemTerms({ value, indexFields }, db.language) };
    }),
  );
  const texts = items.map(({ value }) => (indexedTexts({ value, indexFields }) ?? []).map(embeddable));
  const counts =
    batch.vectors === "copy" ? items.map(({ vectors }) => vectors.length) : texts.map((of) => of.length);
  const embedded =
    batch.vectors === "copy"
      ? await embedder?.given(items.flatMap(({ vectors }) => vectors))
      : texts.flat().length > 0
        ? await embedder?.documents(texts.flat())
        : undefined;
  const imported = await inTenant(() =>
    insertTaken(db.patient, columns, { items, embedded: embedded ?? null, counts }),
  );
  return {
    imported,
    present: present + missing.length - imported,
    withVectors: embedded ? counts.filter(Boolean).length : 0,
  };
}
