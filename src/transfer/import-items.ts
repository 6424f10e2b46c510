import sql from "sql-template-tag";
import { fields, names, recordset } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import { itemTerms } from "../store/indexed-texts.rule.js";
import { pathOf } from "../store/store-operation.js";
import type { Json } from "../text/plain-json.js";
import type { ExportLineOf } from "./export-line.js";
import type { NumberedLine } from "./read-export.js";
import { appColumn, type ImportTarget, inApp, recordTypes } from "./record-types.js";

/** Adds items of LangGraph's store whose names are not taken, with their words. Returns how many. */
export async function importItems(
  tx: Connection,
  target: ImportTarget,
  lines: readonly NumberedLine<ExportLineOf<"item">>[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const { tenantId, userId } = scopeColumns(target.scope);
  const columns = { ...appColumn, ...recordTypes.item.columns };
  const rows = lines.map(({ line }) => ({
    ...inApp(target, line),
    path: pathOf(line.namespace),
    terms: itemTerms({ value: line.value as Json, indexFields: line.indexFields }, tx.language),
  }));
  const added = await tx.query(sql`
    insert into ${tx.schema}.store_item (tenant_id, user_id, path, words, ${names(columns)})
    select ${tenantId}, ${userId}, i.path, to_tsvector(${tx.language}::regconfig, i.terms), ${fields(columns)}
    from json_to_recordset(${JSON.stringify(rows)}::json) as i (${recordset(columns)}, path text, terms text)
    on conflict (place, item) do nothing
    returning 1`);
  return added.length;
}
