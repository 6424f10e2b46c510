import sql, { raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { pageRowsField, parseInput, storableText } from "../../input/parse-input.js";
import { isActive } from "../../memories/item/memory-row.js";
import type { Connection } from "../../postgres/connection.js";
import { asListed } from "../../postgres/isolation.js";
import type { Scope } from "../../scope/scope.js";
import { isListed, isSomebody, type ScopeRow, withScope } from "../../scope/scope-predicates.js";

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

/** Longer ids are found by their beginning: an index entry has no room for more. */
const maxIdCharacters = 200;

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
  /** "active": the latest active first, on one page. @default "oldest", with `search` "active" */
  sort: z.enum(["oldest", "active"]).optional(),
  /** Only those with this in their id, in any case; those whose id begins with it come first. */
  search: storableText.max(maxIdCharacters).optional(),
});

export interface ListOwners extends z.input<typeof pageSchema> {}

/** @throws MemoryError `INVALID_INPUT` */
export async function listOwners(
  db: Connection,
  which: "users" | "apps",
  page: ListOwners = {},
): Promise<ListedOwner[]> {
  const given = parseInput(pageSchema, page, `page of ${which}`);
  const { tenantId, limit, after = "0", sort } = given;
  const search = given.search ?? (sort === "active" ? "" : undefined);
  const { schema } = db;
  const isAsked = sql`${isListed({ scope: undefined, tenantId }, "o")} and ${isSomebody("o")} and o.id > ${after}::bigint
        and ${which === "users" ? sql`o.user_id` : sql`o.app_id`} <> ''`;
  // The literals let the plan use an index of items: else it reads all of them for each owner.
  const isItemOf =
    which === "users" ? raw("i.user_id <> ''") : raw("i.app_id = o.app_id and i.app_id <> ''");
  const list = () =>
    db.query<Omit<ListedOwner, "scope"> & ScopeRow>(sql`
    select o.tenant_id, o.user_id, o.app_id, o.id::text as cursor,
      (
        select count(*)::int from ${schema}.memory m
        where m.owner_ref = o.id and ${isActive(db)}
      ) as memories,
      (
        select count(*)::int from ${schema}.store_item i
        where i.tenant_id = o.tenant_id and i.user_id = o.user_id and ${isItemOf}
          and (i.expires_at is null or i.expires_at > ${db.now()})
      ) as items,
      t.threads, t.last_activity_at as "lastActivityAt"
    from (
      ${search === undefined ? sql`select * from ${schema}.owner o where ${isAsked} order by o.id limit ${limit}` : latestFound(db, { which, isAsked, tenantId, search, limit })}
    ) o
    cross join lateral (
      select count(*)::int as threads, max(t.last_activity_at) as last_activity_at
      from ${schema}.thread t where t.owner_ref = o.id
    ) t
    order by ${search === undefined ? sql`o.id` : sql`o.begins desc, t.last_activity_at desc nulls last, o.id desc`}`);
  return (await asListed({ tenantId }, list)).map(withScope);
}

/** Matches whose last activity is looked up. */
const maxMatches = 1_000;

interface AskedOwners {
  readonly which: "users" | "apps";
  /** Whether an owner `o` is one of them. */
  readonly isAsked: Sql;
  readonly tenantId: string | undefined;
  readonly search: string;
  readonly limit: number;
}

/**
 * The owners of the latest threads, at most `limit`. It walks an index of threads, latest first, from
 * each owner to the next one that it has not met: grouping would read all threads.
 */
function latestActive(
  { schema }: Connection,
  { which, isAsked, tenantId, limit }: AskedOwners,
): Sql {
  const ofTenant = isListed({ scope: undefined, tenantId }, "t");
  // The literal lets any plan use the index of such threads.
  const ofKind = which === "apps" ? sql`t.user_id = ''` : sql`true`;
  const next = (met: Sql, from: Sql) => sql`
            select o.id, t.last_activity_at as at, ${met} || o.id as met
            from ${schema}.thread t join ${schema}.owner o on o.id = t.owner_ref and ${isAsked}
            where ${ofTenant} and ${ofKind} and ${from}
            order by t.last_activity_at desc, t.owner_ref desc limit 1`;
  return sql`
          with recursive latest as (
            (${next(sql`'{}'::bigint[]`, sql`true`)})
            union all
            select n.* from latest l cross join lateral (${next(
              sql`l.met`,
              sql`(t.last_activity_at, t.owner_ref) < (l.at, l.id) and t.owner_ref <> all (l.met)`,
            )}) n
            where cardinality(l.met) < ${limit}
          )
          select id, at from latest`;
}

/**
 * The owners `o` with `search` in their id, as rows with `begins`: whether the id begins with it.
 * The latest active ones of each, at most `limit` together.
 */
function latestFound(db: Connection, asked: AskedOwners): Sql {
  const { which, isAsked, search, limit } = asked;
  const { schema } = db;
  const id = sql`(left(lower(o.${raw(which === "users" ? "user_id" : "app_id")}), ${raw(String(maxIdCharacters))}) collate "C")`;
  const wanted = sql`lower(${search}::text)`;
  const owners = (begins: boolean, where: Sql) => sql`
        (
          select o.id, ${begins}::boolean as begins from ${schema}.owner o
          where ${isAsked} and ${where} order by ${id} limit ${maxMatches}
        )`;
  const candidates =
    search === ""
      ? sql`
        select id, true as begins, at from (${latestActive(db, asked)}) a
        union all
        (select o.id, true, null from ${schema}.owner o where ${isAsked} order by o.id desc limit ${limit})`
      : sql`
        select f.*, (select max(t.last_activity_at) from ${schema}.thread t where t.owner_ref = f.id) as at
        from (
          ${owners(true, sql`${id} >= ${wanted} and ${id} < ${wanted} || e'\\U0010FFFF'`)}
          union all
          ${owners(false, sql`strpos(${id}, ${wanted}) not in (0, 1)`)}
        ) f`;
  return sql`
      select o.*, c.begins from (
        select c.id, bool_or(c.begins) as begins, max(c.at) as at from (${candidates}
        ) c
        group by c.id order by begins desc, at desc nulls last, c.id desc limit ${limit}
      ) c
      cross join lateral (select * from ${schema}.owner where id = c.id limit 1) o`;
}
