import sql from "sql-template-tag";
import type { Json } from "../input/plain-json.js";
import { memoryVectors, type VectorRows } from "../models/reembed.js";
import { embeddable, indexedTexts } from "./indexed-texts.rule.js";
import { isKept } from "./written-items.js";

interface ItemRow {
  readonly ref: string;
  readonly revision: string;
  readonly value: Json;
  readonly indexFields: string[];
}

const itemVectors: VectorRows = {
  lacking: (db, space) => sql`${db.schema}.store_item x
    where x.index_fields is not null and ${isKept(db, "x")} and not exists (
      select from ${db.schema}.store_embedding e
      where e.space_ref = ${space.ref} and e.item_ref = x.ref and e.revision = x.revision
    )`,
  columns: sql`x.ref::text as ref, x.revision::text as revision, x.value, x.index_fields as "indexFields"`,
  toEmbed({ ref, revision, ...item }: ItemRow) {
    return { ref, revision, texts: (indexedTexts(item) ?? []).map(embeddable) };
  },
  // An item without text gets a row without vectors, so that it is not found again.
  async store(db, { space, rows }) {
    const { schema } = db;
    const items = rows.map(({ row: { ref, revision }, vectors }) => ({ ref, revision, vectors }));
    const [row] = await db.query<{ stored: number }>(sql`
      with input as (
        select * from json_to_recordset(${JSON.stringify(items)}::json) as n (ref bigint, revision bigint, vectors text[])
      ),
      free as (
        select i.ref, i.tenant_id, i.revision from ${schema}.store_item i
        where i.ref = any (${items.map(({ ref }) => ref)}::bigint[]) for share skip locked
      ),
      stored as (
        insert into ${schema}.store_embedding as e (item_ref, space_ref, tenant_id, revision, embeddings)
        select i.ref, ${space.ref}, i.tenant_id, i.revision, n.vectors::${space.type}[]
        from input n join free i on i.ref = n.ref and i.revision = n.revision
        on conflict (item_ref, space_ref) do update set revision = excluded.revision, embeddings = excluded.embeddings
          where e.revision < excluded.revision
        returning 1
      )
      select count(*)::int as stored from stored`);
    return row?.stored ?? 0;
  },
};

export const vectorRows = [memoryVectors, itemVectors];
