import { isDeepStrictEqual } from "node:util";
import sql, { empty, join, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { asTenant } from "../postgres/isolation.js";
import type { Runtime } from "../runtime.js";
import type { Scope } from "../scope/scope.js";
import { lockOwner, type ScopeColumns, scopeColumns } from "../scope/scope-predicates.js";
import { questionVector } from "../search/read-question.js";
import type { RetrievalOptions } from "../search/retrieval-options.js";
import { embeddable, indexedTexts, itemTerms } from "./indexed-texts.rule.js";
import { type BatchedRead, type FoundItem, readItems } from "./read-items.js";
import type { BatchedOperation, Put } from "./store-operation.js";
import type { StoreOptions } from "./store-options.js";
import {
  isKept,
  itemOf,
  itemPlace,
  keepWritten,
  type WrittenBatch,
  writtenItems,
} from "./written-items.js";

export type StoreRuntime = Runtime<{
  readonly retrieval: RetrievalOptions;
  readonly store: StoreOptions;
}>;

/**
 * Takes one round trip after the embeddings, and a transaction with a put that has `ifValue`. Each
 * read sees the writes before it. Writes nothing when it throws.
 * @throws MemoryError `STALE_REVISION`
 */
export async function runBatch(
  runtime: StoreRuntime,
  scope: Scope | null,
  operations: readonly BatchedOperation[],
): Promise<FoundItem[]> {
  const { db } = runtime;
  const columns = scopeColumns(scope ?? {});
  const puts = operations.filter((each) => each.kind === "put");
  const written = await prepareItems(runtime, puts);
  const reads = await prepareReads(runtime, operations);
  const statement = batchStatement(db, columns, written, reads);

  const conditional = puts.filter(({ ifValue }) => ifValue !== undefined);
  const run = async (tx: Connection) => {
    if (conditional.length > 0) await requireUnchanged(tx, scope, conditional);
    return tx.query<FoundItem>(statement);
  };
  return asTenant(columns.tenantId, () => (conditional.length > 0 ? db.transaction(run) : run(db)));
}

/** The owner's lock serializes conditional batches; a lock on the items keeps other writers out. */
async function requireUnchanged(
  tx: Connection,
  scope: Scope | null,
  puts: readonly Put[],
): Promise<void> {
  if (scope === null)
    throw new MemoryError("SCOPE_REQUIRED", "A put with `ifValue` needs a store with a `scope`.");
  await lockOwner(tx, scope);
  const items = puts.map(({ path, key }) => itemOf(path, key));
  const found = await tx.query<Pick<Put, "path" | "key" | "value">>(sql`
    select i.path, i.key, i.value from ${tx.schema}.store_item i where i.place = ${itemPlace(scopeColumns(scope))}
      and i.item = any (array[${join(items)}]) and ${isKept(tx)} order by i.item for update`);
  for (const { namespace, path, key, ifValue } of puts) {
    const current = found.find((item) => item.path === path && item.key === key)?.value ?? null;
    if (isDeepStrictEqual(current, ifValue)) continue;
    const message = `The item ${JSON.stringify([...namespace, key])} is not what \`ifValue\` says: read it again.`;
    throw new MemoryError("STALE_REVISION", message, { details: { current } });
  }
}

function batchStatement(
  db: Connection,
  scope: ScopeColumns,
  written: WrittenBatch,
  reads: readonly BatchedRead[],
) {
  const writes = written.items.length > 0;
  const statements = reads.map((read) => readItems(db, scope, read));
  const nothing = sql`select 0 as n, 0::bigint as place where false`;
  const found = reads.length > 0 ? join(statements, "\n    union all\n    ") : nothing;
  const ctes: Sql[] = [];
  if (writes) ctes.push(writtenItems(db, written));
  ctes.push(sql`
    found as materialized (
    ${found}
    )`);
  if (reads.length > 0) ctes.push(refreshed(db, writes));
  if (writes) ctes.push(keepWritten(db, scope, written.space));
  return sql`with ${join(ctes, ",")}
    select * from found order by n, place`;
}

/** Extends the time of read items, except written ones: a statement must not change a row twice. */
function refreshed({ schema }: Connection, writes: boolean): Sql {
  return sql`
    refreshed as (
      update ${schema}.store_item i set expires_at = f.expires_at
      from found f where i.ref = f.ref and f.expires_at is not null
        ${writes ? sql`and not exists (select from written w where w.item = i.item)` : empty}
    )`;
}

async function prepareItems(
  { embedder, redactor }: StoreRuntime,
  puts: readonly (Put & { readonly n: number })[],
): Promise<WrittenBatch> {
  const items = await Promise.all(
    puts.map(async ({ ifValue: _, ...put }) => {
      const item = { ...put, value: await redactor.json(put.value) };
      const texts = (indexedTexts(item) ?? []).map(embeddable);
      return { ...item, texts, terms: itemTerms(item) };
    }),
  );
  const texts = items.flatMap((item) => item.texts);
  const embedded = embedder && texts.length > 0 ? await embedder.documents(texts) : null;
  const remaining = [...(embedded?.vectors ?? [])];
  const written = items.map(({ texts, ...item }) => {
    const vectors = remaining.splice(0, texts.length);
    // All or none of an item's.
    return { ...item, vectors: vectors.every((vector) => vector !== null) ? vectors : [] };
  });
  return { items: written, space: embedded?.space ?? null };
}

const queryOf = (operation: BatchedOperation): string | null =>
  operation.kind === "search" ? operation.query : null;

async function prepareReads(
  runtime: StoreRuntime,
  operations: readonly BatchedOperation[],
): Promise<BatchedRead[]> {
  const firstWrite = operations.find(({ kind }) => kind === "put")?.n ?? Infinity;
  const found = operations.filter((each) => each.kind !== "put");
  // Each question is embedded once, and all of them at once.
  const queries = new Set(found.map(queryOf));
  const embedded = [...queries].map(
    async (query) => [query, query === null ? null : await questionVector(runtime, query)] as const,
  );
  const vectors = new Map(await Promise.all(embedded));
  return found.map((operation) => {
    const vector = vectors.get(queryOf(operation)) ?? null;
    return { ...operation, vector, seesWrites: operation.n > firstWrite };
  });
}
