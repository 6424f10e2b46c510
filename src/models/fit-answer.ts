import { z } from "zod";
import { propertyOf } from "../input/plain-json.js";
import { jsonIn } from "./read-json.js";

interface Fitted<Value = unknown> {
  readonly value: Value;
  /** How many items of lists could not be read. */
  readonly dropped: number;
}

type FittedObject = Fitted<Record<string, unknown>>;

/** Reads answers by the schema, their lists joined; null if one does not fit, or they differ. */
export function fitAnswers(schema: z.ZodObject, answers: readonly object[]): FittedObject | null {
  let all: FittedObject | null = null;
  for (const answer of answers) {
    const fitted = fitAnswer(schema, answer);
    all = all && fitted ? joined(schema, all, fitted) : fitted;
    if (!all) return null;
  }
  return all;
}

function joined({ shape }: z.ZodObject, all: FittedObject, other: FittedObject) {
  const value = { ...all.value };
  for (const [name, field] of Object.entries(shape)) {
    const [mine, its] = [value[name], other.value[name]];
    if (Array.isArray(mine) && Array.isArray(its)) value[name] = [...mine, ...its];
    else if (mine !== its && !(field instanceof z.ZodDefault)) return null;
  }
  return { value, dropped: all.dropped + other.dropped };
}

/**
 * Reads `answer` by the schema, in any shape that models produce; null if it does not fit. Drops
 * unreadable list items unless all are. A missing or unreadable one becomes its default or null.
 */
export function fitAnswer(
  schema: z.ZodObject,
  answer: unknown,
  wrappings = 2,
): FittedObject | null {
  if (typeof answer !== "object" || answer === null) return null;
  const direct = fitObject(schema, answer) ?? fitAsList(schema, answer);
  if (direct || wrappings === 0 || Array.isArray(answer)) return direct;
  const asked = neededFields(schema).filter((name) => Object.hasOwn(answer, name));
  const names = asked.length > 0 ? asked : Object.keys(answer);
  const [only = null, ...others] = names
    .map((name) => fitAnswer(schema, readJson(propertyOf(answer, name)), wrappings - 1))
    .filter((inner) => inner !== null);
  return others.length === 0 ? only : null;
}

/** For a schema that needs only one list: the list itself, or its only item. */
function fitAsList(schema: z.ZodObject, answer: object): FittedObject | null {
  const name = onlyNeeded(schema) ?? "";
  const list = schema.shape[name];
  if (!(list instanceof z.ZodArray)) return null;
  const isItem = list.element instanceof z.ZodObject && fitObject(list.element, answer) !== null;
  return Array.isArray(answer) || isItem ? fitObject(schema, { [name]: answer }) : null;
}

/** The nulls of JSON, Python and JavaScript, which models also write in quotes. */
const isNullInQuotes = (given: unknown): boolean =>
  typeof given === "string" && /^\s*(?:null|none|undefined)\s*$/i.test(given);

function readAs(schema: z.core.$ZodType, given: unknown): Fitted | null {
  if (schema instanceof z.ZodNullable) {
    const fitted = given == null || isNullInQuotes(given) ? null : readAs(schema.unwrap(), given);
    return fitted ?? { value: null, dropped: 0 };
  }
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodCatch) {
    const fitted = given == null ? null : readAs(schema.unwrap() as z.core.$ZodType, given);
    return fitted ?? { value: schema.parse(undefined), dropped: 0 };
  }
  if (schema instanceof z.ZodObject) return fitObject(schema, given);
  if (schema instanceof z.ZodArray) return fitList(schema, given);
  const { success, data } = z.safeParse(schema, scalarFor(schema, given));
  return success ? { value: data, dropped: 0 } : null;
}

function fitObject(schema: z.ZodObject, given: unknown): FittedObject | null {
  const object = objectOf(schema, given);
  if (object === null) return null;
  let dropped = 0;
  const value: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const flat = field instanceof z.ZodDefault ? field.unwrap() : field;
    const isFlat = flat instanceof z.ZodObject && !Object.hasOwn(object, name);
    const beside = isFlat ? fitObject(flat, object) : null;
    const one = beside ?? readAs(field, propertyOf(object, name));
    if (one === null) return null;
    value[name] = one.value;
    dropped += one.dropped;
  }
  return { value, dropped };
}

/** The only one of a list, and what is given in place of an object that needs one text. */
function objectOf(schema: z.ZodObject, given: unknown): object | null {
  const isList = Array.isArray(given);
  if (isList && (given.length !== 1 || typeof given[0] !== "object")) return null;
  const read = readJson(isList ? given[0] : given);
  const name = onlyNeeded(schema) ?? "";
  if (typeof read === "string" && schema.shape[name] instanceof z.ZodString)
    return { [name]: read };
  return typeof read === "object" && !Array.isArray(read) ? read : null;
}

function fitList({ element }: z.ZodArray, given: unknown): Fitted | null {
  const read = readJson(given);
  if (Array.isArray(read)) return fitItems(element, read);
  if (typeof read === "string") {
    const lines = read.split("\n").filter((line) => line.trim() !== "");
    return element instanceof z.ZodString ? fitItems(element, lines) : null;
  }
  if (typeof read !== "object" || read === null) return null;
  if (readAs(element, read)) return fitItems(element, [read]);
  const values: unknown[] = Object.values(read);
  const [list, ...others] = values.filter((value) => Array.isArray(value));
  if (list && others.length === 0) return fitItems(element, list);
  const areItems = values.length > 0 && values.every((value) => readAs(element, value));
  return areItems ? fitItems(element, values) : null;
}

function fitItems(element: z.core.$ZodType, items: readonly unknown[]): Fitted | null {
  const value: unknown[] = [];
  let dropped = 0;
  for (const item of items) {
    const fitted = readAs(element, item);
    if (fitted) value.push(fitted.value);
    dropped += fitted ? fitted.dropped : 1;
  }
  return value.length === 0 && items.length > 0 ? null : { value, dropped };
}

function scalarFor(schema: z.core.$ZodType, given: unknown): unknown {
  if (schema instanceof z.ZodString) return isNullInQuotes(given) ? "" : onlyText(given);
  if (typeof given !== "string") return given;
  const word = given.trim().toLowerCase();
  if (schema instanceof z.ZodNumber) return numberIn(word);
  if (schema instanceof z.ZodBoolean)
    return { true: true, yes: true, false: false, no: false }[word];
  return schema instanceof z.ZodEnum ? word.replace(/[\s-]+/g, "_") : given;
}

function onlyText(given: unknown): unknown {
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

function neededFields(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape)
    .filter(([, field]) => !(field instanceof z.ZodDefault || field instanceof z.ZodNullable))
    .map(([name]) => name);
}

function onlyNeeded(schema: z.ZodObject): string | undefined {
  const [name, ...others] = neededFields(schema);
  return others.length === 0 ? name : undefined;
}

const readJson = (value: unknown) =>
  typeof value === "string" && /^\s*[[{`]/.test(value) ? (jsonIn(value) ?? value) : value;
