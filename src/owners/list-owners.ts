import sql from "sql-template-tag";
import { z } from "zod";
import { isActive } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { asListed } from "../postgres/isolation.js";
import { nobody, type Scope } from "../scope/scope.js";
import { isId, type ScopeRow, scopeColumns, scopeOf } from "../scope/scope-predicates.js";
import { pageRowsField, parseInput, storableText } from "../text/parse-input.js";

/** A user or an app with data. */
export interface ListedOwner {
  /** Names a user without apps, or an app without users. */
  readonly scope: Scope;
  readonly memories: number;
  readonly threads: number;
  /** Items of LangGraph's store; for a user, in all apps. */
  readonly items: number;
  /** Null without messages. */
  readonly lastActivityAt: Date | null;
  /** Pass the last one as `after` for the next page. */
  readonly cursor: string;
}

const pageSchema = z.strictObject({
  /** @default all tenants */
  tenantId: storableText.optional(),
  /** Rows, 1 to 1,000. @default 100 */
  limit: pageRowsField,
  /** The last `cursor` of the previous page. */
  after: z
    .string()
    .regex(/^\d{1,18}$/, "must be the `cursor` of a listed user or app")
    .optional(),
});

export interface ListOwners extends z.input<typeof pageSchema> {}

/** Oldest first. @throws MemoryError `INVALID_INPUT` */
export async function listOwners(
  db: Connection,
  which: "users" | "apps",
  page: ListOwners = {},
): Promise<ListedOwner[]> {
  const { tenantId, limit, after = "0" } = parseInput(pageSchema, page, `page of ${which}`);
  const { schema } = db;
  const ofTenant = tenantId === undefined ? sql`true` : isId(sql`o.tenant_id`, tenantId);
  const isListed = sql`${ofTenant} and o.tenant_id <> ${scopeColumns(nobody).tenantId} and o.id > ${after}::bigint
        and o.user_id ${which === "users" ? sql`<>` : sql`=`} ''`;
  const list = () =>
    db.query<Omit<ListedOwner, "scope"> & ScopeRow & Record<string, unknown>>(sql`
    select o.tenant_id, o.user_id, o.app_id, o.id::text as cursor,
      (
        select count(*)::int from ${schema}.memory m
        where m.owner_ref = o.id and ${isActive(db)}
      ) as memories,
      (
        select count(*)::int from ${schema}.store_item i
        where i.tenant_id = o.tenant_id and i.user_id = o.user_id and ${which === "users" ? sql`true` : sql`i.app_id = o.app_id`}
          and (i.expires_at is null or i.expires_at > ${db.now()})
      ) as items,
      t.threads, t.last_activity_at as "lastActivityAt"
    from (select * from ${schema}.owner o where ${isListed} order by o.id limit ${limit}) o
    cross join lateral (
      select count(*)::int as threads, max(t.last_activity_at) as last_activity_at
      from ${schema}.thread t where t.owner_ref = o.id
    ) t
    order by o.id`);
  const rows = await asListed({ tenantId }, list);
  return rows.map(({ tenant_id, user_id, app_id, ...owner }) => {
    return { scope: scopeOf({ tenant_id, user_id, app_id }), ...owner };
  });
}
