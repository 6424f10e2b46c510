import sql, { join, raw, type Sql } from "sql-template-tag";
import { comparisons, type FilterCondition } from "./item-filter.rule.js";
import type { LabelMatch } from "./store-operation.js";

/** The last character in byte order. */
const last = "\u{10FFFF}";

/** In the namespace of `path`, or below it. The first condition uses the index. */
export function isBelow(path: string): Sql {
  if (path === "") return sql`true`;
  const head = sql`left(${path}::text, 200)`;
  return sql`i.path_head >= ${head} and i.path_head <= ${head} || ${last}::text and starts_with(i.path, ${path}::text)`;
}

export function hasLabels({ matchType, path: labels }: LabelMatch): Sql {
  const start =
    matchType === "prefix" ? sql`0` : sql`cardinality(i.namespace) - ${labels.length}::int`;
  const each = labels.flatMap((label, place) =>
    label === "*" ? [] : [sql`i.namespace[${start} + ${place + 1}::int] = ${label}::text`],
  );
  return join([sql`cardinality(i.namespace) >= ${labels.length}::int`, ...each], " and ");
}

export function itemFits(conditions: readonly FilterCondition[]): Sql {
  return conditions.length === 0 ? sql`true` : join(conditions.map(fitsOne), " and ");
}

function fitsOne({ field, operator, operand }: FilterCondition): Sql {
  const stored = sql`(i.value -> ${field}::text)`;
  const operandJson = sql`${JSON.stringify(operand)}::jsonb`;
  switch (operator) {
    case "$eq":
      return sql`coalesce(${stored} = ${operandJson}, false)`;
    case "$ne":
      return sql`${stored} is distinct from ${operandJson}`;
    case "$has":
      return sql`coalesce(${stored} @> ${operandJson}, false)`;
    case "$in":
      return sql`coalesce(${stored} in (select jsonb_array_elements(${operandJson})), false)`;
    case "$nin":
      return sql`not coalesce(${stored} in (select jsonb_array_elements(${operandJson})), false)`;
    case "$exists":
      return sql`(${stored} is not null) = ${operand as boolean}::boolean`;
    default:
      return compares(stored, comparisons[operator], operand as number | string);
  }
}

/** A number as text, within the range of PostgreSQL's `numeric`. */
const numeral = String.raw`^\s*[+-]?\d{1,255}(\.\d{1,255})?([eE][+-]?\d{1,3})?\s*$`;

/**
 * Compares texts with numbers as numbers, as LangGraph does; other texts by bytes, so that ISO 8601
 * times sort.
 */
function compares(stored: Sql, sign: string, operand: number | string): Sql {
  const comparison = raw(sign);
  const text = sql`(${stored} #>> '{}')`;
  const type = sql`jsonb_typeof(${stored})`;
  const isNumber = sql`${type} = 'number' or (${type} = 'string' and ${text} ~ ${numeral})`;
  const isText = typeof operand === "string";
  const asText = isText
    ? sql`when ${type} = 'string' then ${text} collate "C" ${comparison} ${operand}::text`
    : sql``;
  if (isText && !new RegExp(numeral).test(operand)) return sql`case ${asText} else false end`;
  const number = String(operand).trim();
  return sql`case when ${isNumber} then ${text}::numeric ${comparison} ${number}::numeric ${asText} else false end`;
}
