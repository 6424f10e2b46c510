import { isDeepStrictEqual } from "node:util";
import sql, { empty, join, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { asTenant } from "../postgres/isolation.js";
import { retryOn } from "../postgres/retry.js";
import type { Runtime } from "../runtime.js";
import type { Scope } from "../scope/scope.js";
import { lockOwner, type ScopeColumns, scopeColumns } from "../scope/scope-predicates.js";
import { type QuestionVector, questionVector } from "../search/read-question.js";
import type { RetrievalOptions } from "../search/retrieval-options.js";
import { embeddable, indexedTexts, itemTerms } from "./indexed-texts.rule.js";
import { type BatchedRead, type FoundItem, readItems } from "./read-items.js";
import type { Put, StoreOperation } from "./store-operation.js";
import type { StoreOptions } from "./store-options.js";
import {
  isKept,
  itemOf,
  keepWritten,
  placeOf,
  type WrittenBatch,
  type WrittenItem,
  writtenItems,
} from "./written-items.js";

export type StoreRuntime = Runtime<{
  readonly retrieval: RetrievalOptions;
  readonly store: StoreOptions;
}>;

export interface BatchedOperation {
  readonly n: number;
  readonly operation: StoreOperation;
}

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
  const writes = await prepareItems(runtime, operations);
  const reads = await prepareReads(runtime, operations);
  const conditional = putsOf(operations).filter(({ ifValue }) => ifValue !== undefined);
  const statement = batchStatement(db, columns, writes, reads);
  const runUnchanged = async (tx: Connection) => {
    await requireUnchanged(tx, scope, conditional);
    return tx.query<FoundItem>(statement);
  };
  // Batches that write the same items in different orders may deadlock.
  return asTenant(columns.tenantId, () =>
    retryOn(
      ["40P01"],
      () =>
        conditional.length > 0 ? db.transaction(runUnchanged) : db.query<FoundItem>(statement),
      {
        most: 10,
        stepMs: 10,
        busy: "Others kept writing the same items of the store each time it was tried; nothing was written. Try again.",
      },
    ),
  );
}

const putsOf = (operations: readonly BatchedOperation[]) =>
  operations.flatMap(({ n, operation }) => (operation.kind === "put" ? [{ n, ...operation }] : []));

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
    select i.path, i.key, i.value from ${tx.schema}.store_item i where i.place = ${placeOf(scopeColumns(scope))}
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
  const ctes = [
    ...(writes ? [writtenItems(db, written)] : []),
    sql`
    found as materialized (
    ${found}
    )`,
    ...(reads.length > 0 ? [refreshed(db, writes)] : []),
    ...(writes ? [keepWritten(db, scope, written.space)] : []),
  ];
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
  runtime: StoreRuntime,
  operations: readonly BatchedOperation[],
): Promise<WrittenBatch> {
  const { embedder, redactor } = runtime;
  const items = await Promise.all(
    putsOf(operations).map(async ({ ifValue: _, ...put }) => {
      const item = { ...put, value: await redactor.json(put.value) };
      return { ...item, texts: indexedTexts(item), terms: itemTerms(item) };
    }),
  );
  const texts = items.flatMap((item) => item.texts ?? []).map(embeddable);
  const embedded = embedder && texts.length > 0 ? await embedder.documents(texts) : null;
  let from = 0;
  const written = items.map(({ texts, ...item }): WrittenItem => {
    const own = embedded?.vectors.slice(from, from + (texts?.length ?? 0)) ?? [];
    from += texts?.length ?? 0;
    const vectors = own.filter((vector) => vector !== null);
    return { ...item, vectors: vectors.length === own.length ? vectors : [] };
  });
  return { items: written, space: embedded?.space ?? null };
}

async function prepareReads(
  runtime: StoreRuntime,
  operations: readonly BatchedOperation[],
): Promise<BatchedRead[]> {
  const firstWrite =
    operations.find(({ operation }) => operation.kind === "put")?.n ?? Number.POSITIVE_INFINITY;
  const vectors = new Map<string, Promise<QuestionVector | null>>();
  const vectorOf = (operation: StoreOperation) => {
    if (operation.kind !== "search" || operation.query === null) return null;
    const vector = vectors.get(operation.query) ?? questionVector(runtime, operation.query);
    vectors.set(operation.query, vector);
    return vector;
  };
  const reads = operations.map(async ({ n, operation }): Promise<BatchedRead | null> => {
    if (operation.kind === "put") return null;
    return { n, operation, vector: await vectorOf(operation), seesWrites: n > firstWrite };
  });
  return (await Promise.all(reads)).filter((read) => read !== null);
}
