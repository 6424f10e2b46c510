import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { names, recordset, fields as selectedFields } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import type { ScopeColumns } from "../scope/scope-predicates.js";
import { markWork } from "../work/work-table.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { linesOf, type NumberedLine } from "./read-export.js";
import { derivedFields, type ImportTarget } from "./record-type.js";
import { type RecordName, recordNames, recordTypeOf } from "./records.js";
import { unreadable } from "./screen-line.js";

export async function insertRecords(
  tx: Connection,
  target: ImportTarget,
  lines: readonly NumberedLine[],
) {
  for (const { line } of linesOf(lines, "owner")) await importOwner(tx, target, line);
  for (const name of recordNames) {
    const { insert } = recordTypeOf(name);
    if (insert === undefined) continue;
    const rows = await Promise.all(
      linesOf(lines, name).map(async ({ line, number }) => {
        try {
          return { ...line, ...appOf(target, line), ...(await insert.extra?.(line as never)) };
        } catch (cause) {
          throw unreadable(number, cause);
        }
      }),
    );
    if (insert.oneByOne) for (const row of rows) await tx.query(insertOf(tx, name, target, [row]));
    else if (rows.length > 0) await tx.query(insertOf(tx, name, target, rows));
  }
  if (linesOf(lines, "memory").some(({ line }) => line.kind === "note"))
    await markWork(tx, { kind: "compaction", of: "owner", ref: target.ownerRef });
}

function insertOf(
  tx: Connection,
  name: RecordName,
  target: ImportTarget,
  rows: readonly object[],
): Sql {
  const { table, fields, insert = {} } = recordTypeOf(name);
  const { ownerColumns = [], read, joined, returning = "1", end = empty, following } = insert;
  const columns = { ...fields, ...insert.columns };
  const values = { owner_ref: target.ownerRef, tenant_id: target.tenantId, user_id: target.userId };
  const given = sql`
    select row_number() over () as position, r.*
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (${recordset(columns)}${raw(read ? `, ${read}` : "")})`;
  // Joined and computed before the insert: Citus plans few joins within one.
  const found = derivedFields(columns, ({ into }, field) => {
    return sql`${into(tx, target)} as ${raw(`"${field}_found"`)}`;
  });
  const stored = derivedFields(columns, (_, field) => raw(`i."${field}_found"`));
  return sql`
    with input as materialized (
      select ${join([raw("i.*"), ...Object.values(found)], ", ")} from (${given}) i ${joined?.(tx, target) ?? empty}
    ),
    added as (
      insert into ${tx.schema}.${raw(table)} (${join([...ownerColumns.map((column) => raw(column)), names(columns)], ", ")})
      select ${join([...ownerColumns.map((column) => sql`${values[column]}`), selectedFields(columns, stored)], ", ")}
      from input i
      order by i.position
      ${end}
      returning ${raw(returning)}
    )${following?.(tx, target) ?? empty}
    select 1 as done`;
}

/** Lines get the target's app, or keep their own if the target is a user without an app. */
function appOf({ userId, appId }: ScopeColumns, line: ExportLine) {
  const own = "appId" in line ? line.appId : null;
  return { appId: appId !== "" || userId === "" ? appId : (own ?? "") };
}

/** Raises an owner's counters to the imported ones. */
async function importOwner(
  tx: Connection,
  { ownerRef }: ImportTarget,
  line: ExportLineOf<"owner">,
): Promise<void> {
  const { revision, turns, changesTrimmedTo } = line;
  await tx.query(sql`
    update ${tx.schema}.owner
    set revision = greatest(revision, ${revision}::bigint), turns = greatest(turns, ${turns}::bigint),
      changes_trimmed_to = greatest(changes_trimmed_to, ${changesTrimmedTo}::bigint)
    where id = ${ownerRef}`);
}
