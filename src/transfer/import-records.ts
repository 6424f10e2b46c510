import sql, { raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import { type Columns, fields, names, recordset } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import type { ExportLineOf } from "./export-line.js";
import type { NumberedLine } from "./read-export.js";
import { appColumn, type ImportTarget, inApp, type RecordName, recordTypes } from "./record-types.js";

/** Lets an owner's counters go on from an imported one's. True when that changed them. */
export async function importOwner(
  tx: Connection,
  input: { ownerRef: OwnerRef; revision: number; turns: number; changesTrimmedTo: number },
): Promise<boolean> {
  const { ownerRef, revision, turns } = input;
  const rows = await tx.query(sql`
    update ${tx.schema}.owner
    set changes_trimmed_to =
        case revision when 0 then least(${input.changesTrimmedTo}, ${revision}::bigint) else changes_trimmed_to end,
      revision = greatest(revision, ${revision}::bigint), turns = greatest(turns, ${turns}::bigint)
    where id = ${ownerRef} and (revision < ${revision} or turns < ${turns})
    returning id`);
  return rows.length > 0;
}

/** What became of lines of one type; the others were there already. */
export interface AddedLines {
  readonly added: number;
  /** Left out, since what they are about is not there or is taken. */
  readonly skipped: number;
}

/** Adds links between memories of an owner; a link to one that is not there is left out. */
export async function importRelations(
  tx: Connection,
  target: ImportTarget,
  lines: Lines<"relation">,
): Promise<AddedLines> {
  if (lines.length === 0) return { added: 0, skipped: 0 };
  const { ownerRef } = target;
  const { columns } = recordTypes.relation;
  const [row] = await tx.query<{ known: number; added: number }>(sql`
    with linked as (
      select i.*, f.ref as from_ref, t.ref as to_ref
      from ${rowsOf(columns, target, lines)}
      join ${tx.schema}.memory f on f.id = i."from" and f.owner_ref = ${ownerRef}
      join ${tx.schema}.memory t on t.id = i."to" and t.owner_ref = ${ownerRef}
      where f.ref <> t.ref
    ),
    added as (
      insert into ${tx.schema}.relation (${names(columns)})
      select ${fields(columns, { from: sql`i.from_ref`, to: sql`i.to_ref` })} from linked i
      on conflict do nothing
      returning 1
    )
    select (select count(*) from linked)::int as known, (select count(*) from added)::int as added`);
  const { known = 0, added = 0 } = row ?? {};
  return { added, skipped: lines.length - known };
}

/** Adds the entries of the audit trail that are not there yet, whoever is said to have made them. Returns how many. */
export async function importHistory(
  tx: Connection,
  target: ImportTarget,
  lines: Lines<"history">,
): Promise<number> {
  if (lines.length === 0) return 0;
  const { ownerRef } = target;
  const columns = { ...appColumn, ...recordTypes.history.columns };
  // i."appId", i."memoryId", …, i."createdAt"
  const rows = await tx.query(sql`
    insert into ${tx.schema}.history (owner_ref, ${names(columns)})
    select ${ownerRef}, ${fields(columns)}
    from ${rowsOf(columns, target, lines)}
    where not exists (
      select from ${tx.schema}.history h
      where h.memory_id = i."memoryId" and h.created_at = i."createdAt" and h.owner_ref = ${ownerRef}
        and h.event = i.event and h.rev is not distinct from i.revision
        and h.old is not distinct from i.old and h.new is not distinct from i.new
    )
    order by i.position
    returning 1`);
  return rows.length;
}

/**
 * Adds the news that are not there yet to a locked owner, whatever words they are told in. Returns how many.
 *
 * They keep their revisions; one whose revision the owner has used for something else gets the next.
 */
export async function importChanges(
  tx: Connection,
  target: ImportTarget,
  lines: Lines<"change">,
): Promise<number> {
  if (lines.length === 0) return 0;
  const { ownerRef } = target;
  const { schema } = tx;
  const columns = { ...appColumn, ...recordTypes.change.columns };
  const [row] = await tx.query<{ added: number }>(sql`
    with input as (
      select * from ${rowsOf(columns, target, lines)}
    ),
    fresh as (
      select i.*, exists (
        select from ${schema}.change_log c where c.owner_ref = ${ownerRef} and c.rev = i.revision
      ) as taken
      from input i
      where not exists (
        select from ${schema}.change_log c
        where c.memory_id = i."memoryId" and c.owner_ref = ${ownerRef} and c.event = i.event
          and c.created_at = i."createdAt" and (c.rev = i.revision or c.line = i.line)
      )
    ),
    last as (
      select greatest(o.revision, (select max(revision) from fresh where not taken)) as rev
      from ${schema}.owner o where o.id = ${ownerRef}
    ),
    numbered as (
      select f.*, case when taken then last.rev + row_number() over (partition by taken order by position)
        else revision end as rev
      from fresh f, last
    ),
    added as (
      insert into ${schema}.change_log (owner_ref, ${names(columns)})
      select ${ownerRef}, ${fields(columns, { revision: sql`i.rev` })} from numbered i
      order by position
      returning rev
    ),
    counted as (
      update ${schema}.owner o set revision = greatest(o.revision, (select max(rev) from added))
      where o.id = ${ownerRef}
    )
    select count(*)::int as added from added`);
  return row?.added ?? 0;
}

/** Adds consent requests that are not there yet; one for a slot for which another waits is left out. @throws MemoryError `ID_TAKEN` */
export async function importConsents(
  tx: Connection,
  target: ImportTarget,
  lines: Lines<"consent">,
): Promise<AddedLines & { readonly pending: number }> {
  if (lines.length === 0) return { added: 0, skipped: 0, pending: 0 };
  const { ownerRef } = target;
  const { tenantId, userId } = scopeColumns(target.scope);
  const known = await findOwn(tx, "consent", { ownerRef, lines });
  const columns = { ...appColumn, ...recordTypes.consent.columns };
  const rows = await tx.query<{ status: string }>(sql`
    insert into ${tx.schema}.consent_request (owner_ref, tenant_id, user_id, ${names(columns)})
    select ${ownerRef}, ${tenantId}, ${userId}, ${fields(columns)}
    from ${rowsOf(columns, target, lines)}
    order by i.position
    on conflict do nothing
    returning status`);
  const pending = rows.filter(({ status }) => status === "pending").length;
  return { added: rows.length, skipped: lines.length - known.size - rows.length, pending };
}

type Lines<Name extends RecordName> = readonly NumberedLine<ExportLineOf<Name>>[];

/** `lines` as rows `i` of `columns`, numbered by their `position`. */
function rowsOf(columns: Columns, target: ImportTarget, lines: readonly NumberedLine<RecordLine>[]): Sql {
  const records = JSON.stringify(lines.map(({ line }) => inApp(target, line)));
  return sql`(
    select row_number() over () as position, r.*
    from json_to_recordset(${records}::json) as r (${recordset(columns)})
  ) i`;
}

type RecordLine = ExportLineOf<RecordName> & { readonly appId?: string | undefined };

/** Records with ids of their own, which no two scopes of a database can share. */
type Named = "memory" | "consent";

/**
 * The ids that records of the owner have already among those of `lines`.
 *
 * @throws MemoryError `ID_TAKEN` that names the first line whose id is somebody else's.
 */
export async function findOwn(
  tx: Connection,
  name: Named,
  { ownerRef, lines }: { ownerRef: OwnerRef; lines: readonly NumberedLine<ExportLineOf<Named>>[] },
): Promise<Set<string>> {
  const ids = lines.map(({ line }) => line.id);
  const rows = await tx.query<{ id: string; own: boolean }>(sql`
    select x.id, x.owner_ref = ${ownerRef} as own
    from ${tx.schema}.${raw(recordTypes[name].table)} x where x.id = any (${ids}::uuid[])`);
  const foreign = new Set(rows.filter(({ own }) => !own).map(({ id }) => id));
  const refused = lines.find(({ line }) => foreign.has(line.id));
  if (refused) throw taken(name, refused);
  return new Set(rows.map(({ id }) => id));
}

/** It does not say whose. */
export function taken(name: Named, { number, line: { id } }: NumberedLine<ExportLineOf<Named>>): MemoryError {
  const what = recordTypes[name].called;
  return new MemoryError(
    "ID_TAKEN",
    `Line ${number}: ${what} ${id} belongs to another scope of this database. Import it into another schema or database.`,
  );
}
