import { z } from "zod";
import { propertyOf } from "../text/plain-json.js";
import { jsonIn } from "./read-json.js";

export interface FittedAnswer<Output> {
  readonly value: Output;
  readonly dropped: number;
}

type Fit = FittedAnswer<unknown> | null;

/**
 * Reads `answer` by the schema, in any shape that models produce; null if it does not fit. Drops
 * unreadable list items unless all are. A missing or unreadable one becomes its default or null.
 */
export function fitAnswer<Output>(
  schema: z.ZodObject,
  answer: unknown,
): FittedAnswer<Output> | null {
  return fitWrapped(schema, answer, 2) as FittedAnswer<Output> | null;
}

function fitWrapped(schema: z.ZodObject, answer: unknown, wrappings: number): Fit {
  if (typeof answer !== "object" || answer === null) return null;
  const direct = readAs(schema, answer) ?? fitAsList(schema, answer);
  if (direct || wrappings === 0 || Array.isArray(answer)) return direct;
  const asked = needed(schema).filter((name) => Object.hasOwn(answer, name));
  const inner = (asked.length > 0 ? asked : Object.keys(answer))
    .map((name) => readJson(propertyOf(answer, name)))
    .map((value) => fitWrapped(schema, value, wrappings - 1))
    .filter((one) => one !== null);
  return inner.length === 1 ? (inner[0] ?? null) : null;
}

/** For a schema that needs only one list: the list itself, or its only item. */
function fitAsList(schema: z.ZodObject, answer: object): Fit {
  const name = onlyNeeded(schema);
  const list = name === undefined ? undefined : schema.shape[name];
  if (!(list instanceof z.ZodArray)) return null;
  const isItem = list.element instanceof z.ZodObject && readAs(list.element, answer) !== null;
  return Array.isArray(answer) || isItem ? readAs(schema, { [name as string]: answer }) : null;
}

function readAs(schema: z.core.$ZodType, given: unknown): Fit {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    const otherwise = whole(schema instanceof z.ZodDefault ? schema.def.defaultValue : null);
    return (given == null ? null : readAs(schema.unwrap(), given)) ?? otherwise;
  }
  if (schema instanceof z.ZodObject) return fitObject(schema, given);
  if (schema instanceof z.ZodArray) return fitList(schema, given);
  const { success, data } = z.safeParse(schema, scalarFor(schema, given));
  return success ? whole(data) : null;
}

function fitObject(schema: z.ZodObject, given: unknown): Fit {
  const [only, ...others] = Array.isArray(given) ? given : [given];
  const isOne = others.length === 0 && (typeof only === "object" || !Array.isArray(given));
  const object = isOne ? objectOf(schema, only) : null;
  if (object === null) return null;
  let dropped = 0;
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const flat = field instanceof z.ZodDefault ? field.unwrap() : field;
    const isFlat = flat instanceof z.ZodObject && !Object.hasOwn(object, name);
    const one =
      (isFlat ? fitObject(flat, object) : null) ?? readAs(field, propertyOf(object, name));
    if (one === null) return null;
    fields[name] = one.value;
    dropped += one.dropped;
  }
  return { value: fields, dropped };
}

function objectOf(schema: z.ZodObject, value: unknown): object | null {
  const read = readJson(value);
  const name = onlyNeeded(schema);
  if (typeof read === "string" && name !== undefined && schema.shape[name] instanceof z.ZodString)
    return { [name]: read };
  return typeof read === "object" && !Array.isArray(read) ? read : null;
}

function fitList({ element }: z.ZodArray, given: unknown): Fit {
  const read = readJson(given);
  if (Array.isArray(read)) return fitItems(element, read);
  if (typeof read === "string") {
    const lines = read.split("\n").filter((line) => line.trim() !== "");
    return element instanceof z.ZodString ? fitItems(element, lines) : null;
  }
  if (typeof read !== "object" || read === null) return null;
  if (readAs(element, read)) return fitItems(element, [read]);
  const values = Object.values(read);
  const lists = values.filter((value) => Array.isArray(value));
  const items = lists.length === 1 ? (lists[0] as unknown[]) : values;
  const isList =
    lists.length === 1 || (values.length > 0 && values.every((value) => readAs(element, value)));
  return isList ? fitItems(element, items) : null;
}

function fitItems(element: z.core.$ZodType, items: readonly unknown[]): Fit {
  const fitted = items.map((item) => readAs(element, item)).filter((one) => one !== null);
  if (fitted.length === 0 && items.length > 0) return null;
  const within = fitted.reduce((sum, { dropped }) => sum + dropped, 0);
  return {
    value: fitted.map(({ value }) => value),
    dropped: items.length - fitted.length + within,
  };
}

function scalarFor(schema: z.core.$ZodType, given: unknown): unknown {
  if (schema instanceof z.ZodString) return textOf(given);
  if (typeof given !== "string") return given;
  const word = given.trim().toLowerCase();
  if (schema instanceof z.ZodNumber) return numberIn(word);
  if (schema instanceof z.ZodBoolean)
    return { true: true, yes: true, false: false, no: false }[word];
  return schema instanceof z.ZodEnum ? word.replace(/[\s-]+/g, "_") : given;
}

function textOf(given: unknown): unknown {
  if (typeof given === "number" || typeof given === "boolean") return String(given);
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const texts = Object.values(given).filter((value) => typeof value === "string");
  return texts.length === 1 ? texts[0] : given;
}

/** "4", "0.9", "0,9", "90%", "#2". */
function numberIn(text: string): number | undefined {
  const [, digits, percent] = /^#?(-?\d{1,15}(?:[.,]\d{1,15})?)(%?)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits.replace(",", ".")) / (percent ? 100 : 1);
}

function needed(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape)
    .filter(([, field]) => !(field instanceof z.ZodDefault || field instanceof z.ZodNullable))
    .map(([name]) => name);
}

function onlyNeeded(schema: z.ZodObject): string | undefined {
  const [name, ...others] = needed(schema);
  return others.length === 0 ? name : undefined;
}

const readJson = (value: unknown) =>
  typeof value === "string" && /^\s*[[{`]/.test(value) ? (jsonIn(value) ?? value) : value;

const whole = (value: unknown): Fit => ({ value, dropped: 0 });
