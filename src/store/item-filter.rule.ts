import { z } from "zod";
import { MemoryError } from "../errors.js";
import { maxConditions, suggestion } from "../input/parse-input.js";
import { isJsonObject, type Json } from "../input/plain-json.js";
import { isStorable } from "../text/storable-text.js";
import { storableJson } from "./storable-json.rule.js";

const operators = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists"] as const;

/** Operators of order, in SQL. */
export const comparisons = { $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" } as const;

/**
 * How a field is compared. An object without operators means "$has": the field contains the object.
 */
type FilterOperator = (typeof operators)[number] | "$has";

export interface FilterCondition {
  readonly field: string;
  readonly operator: FilterOperator;
  readonly operand: Json;
}

/**
 * All conditions must hold.
 * @throws MemoryError `INVALID_INPUT`, also without a value, which would widen the search
 */
export function parseItemFilter(filter: unknown): FilterCondition[] {
  if (filter === undefined || filter === null) return [];
  if (!z.record(z.string(), z.unknown()).safeParse(filter).success)
    throw invalidFilter('it must be an object of fields, as in { status: "open" }.');
  const conditions = Object.entries(filter).flatMap(([field, condition]) =>
    conditionsOn(field, condition),
  );
  if (conditions.length <= maxConditions) return conditions;
  throw invalidFilter(`it has ${conditions.length} conditions, and ${maxConditions} are accepted.`);
}

function conditionsOn(field: string, condition: unknown): FilterCondition[] {
  if (!isStorable(field)) {
    throw invalidFilter(
      `${JSON.stringify(field)} has characters that cannot be stored: NUL, or half of a surrogate pair.`,
    );
  }
  const operand = storableJson(condition, `filter on "${field}"`);
  if (!isJsonObject(operand)) return [{ field, operator: "$eq", operand }];
  const names = Object.keys(condition as object);
  if (names.length === 0) throw invalidFilter(`"${field}" has an empty condition.`);
  if (!names.some((name) => name.startsWith("$"))) return [{ field, operator: "$has", operand }];
  return names.map((name) => {
    const operator = operators.find((each) => each === name);
    const compared = operand[name];
    if (operator === undefined) throw unknownOperator(name);
    if (compared === undefined)
      throw invalidFilter(`${operator} on "${field}" is given without a value.`);
    checkOperand(field, operator, compared);
    return { field, operator, operand: compared };
  });
}

function checkOperand(field: string, operator: FilterOperator, operand: Json): void {
  const isList = operator === "$in" || operator === "$nin";
  if (isList && !Array.isArray(operand))
    throw invalidFilter(`${operator} on "${field}" takes a list.`);
  if (operator in comparisons && typeof operand !== "number" && typeof operand !== "string")
    throw invalidFilter(`${operator} on "${field}" takes a number or a text.`);
  if (operator === "$exists" && typeof operand !== "boolean")
    throw invalidFilter(`${operator} on "${field}" takes true or false.`);
}

function unknownOperator(name: string): MemoryError {
  const hint = suggestion(name, operators) ?? `known: ${operators.join(", ")}`;
  return invalidFilter(`unknown operator "${name}" (${hint}).`);
}

function invalidFilter(problem: string): MemoryError {
  return new MemoryError("INVALID_INPUT", `Invalid filter: ${problem}`);
}
