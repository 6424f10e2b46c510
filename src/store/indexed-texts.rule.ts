import { isJsonObject, type Json } from "../input/plain-json.js";
import { searchText } from "../text/search-text.js";
import { headOf } from "../text/storable-text.js";

/** Most searchable texts of an item; each has a vector. */
const maxTexts = 200;

/** Longest searchable text, as of messages. Longer ones are cut. */
const maxSearched = 100_000;

/** Longest text to embed: models take some 8,000 tokens, and a Chinese character is one. */
const maxIndexedCharacters = 8_000;

interface Indexed {
  readonly value: Json;
  /** Null: no query finds it. */
  readonly indexFields: readonly string[] | null;
}

/** Texts of the item's indexed fields, without blank ones; null if no query finds it. */
export function indexedTexts({ value, indexFields }: Indexed): string[] | null {
  if (value === null || indexFields === null) return null;
  const texts: string[] = [];
  for (const field of indexFields) {
    for (const part of valuesAt(value, stepsOf(field))) {
      if (texts.length === maxTexts) return texts;
      const text = readable(part);
      if (text.trim() !== "") texts.push(text);
    }
  }
  return texts;
}

export function itemTerms(item: Indexed): string | null {
  const texts = indexedTexts(item);
  // A `tsvector` has 1 MB, and words are in it as a whole and in parts.
  return texts && searchText(headOf(texts.join("\n"), maxSearched));
}

export const embeddable = (text: string): string => headOf(text, maxIndexedCharacters);

type PathStep = string | number | "*";

/** The steps of a path: "chapters[*].text" becomes "chapters", "*", "text". */
function stepsOf(field: string): PathStep[] {
  if (field === "$") return [];
  const path = field.startsWith("$.") ? field.slice(2) : field;
  return [...path.matchAll(/\[(\*|-?\d+)\]|([^.[\]]+)/gu)].map(([, element, name]) => {
    if (name !== undefined) return name;
    return element === "*" ? "*" : Number(element);
  });
}

/** Lazy: a value may have millions of parts. */
function* valuesAt(value: Json, [step, ...steps]: readonly PathStep[]): Generator<Json> {
  if (step !== undefined) for (const part of partsAt(value, step)) yield* valuesAt(part, steps);
  else if (value !== null) yield value;
}

function partsAt(value: Json, step: PathStep): Json[] {
  if (Array.isArray(value)) {
    if (step === "*") return value;
    const part = typeof step === "number" ? value.at(step) : undefined;
    return part === undefined ? [] : [part];
  }
  if (!isJsonObject(value) || typeof step === "number") return [];
  if (Object.hasOwn(value, step)) return [value[step] as Json];
  return step === "*" ? Object.values(value) : [];
}

/** Text for search and models: objects and lists become a line for each text, with its key. */
function readable(value: Json): string {
  if (typeof value === "string") return headOf(value, maxSearched);
  let text = "";
  for (const line of indexLines(value, "")) {
    if (text.length >= maxSearched) break;
    text += text === "" ? line : `\n${line}`;
  }
  return headOf(text, maxSearched);
}

function* indexLines(value: Json, name: string): Generator<string> {
  if (Array.isArray(value)) for (const part of value) yield* indexLines(part, name);
  else if (isJsonObject(value))
    for (const [key, part] of Object.entries(value)) yield* indexLines(part, key);
  else if (value !== null && value !== "") yield name === "" ? String(value) : `${name}: ${value}`;
}
