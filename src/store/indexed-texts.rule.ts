import { isJsonObject, type Json } from "../text/plain-json.js";
import { searchText } from "../text/search-text.js";
import { headOf } from "../text/storable-text.js";

/** Most texts of one item that are searched, each with a vector of its own. */
const mostTexts = 200;

/** Longest text that is searched, as of messages: of a longer value its beginning. */
const mostSearched = 100_000;

/** Longest text that is made a vector of: models take some 8,000 tokens, and of Chinese a character is one. */
const mostCharacters = 8_000;

interface Indexed {
  readonly value: Json;
  /** Null: it is found by no query. */
  readonly indexFields: readonly string[] | null;
}

/** Texts of the item's indexed fields, without blank ones; null where no query finds it. */
export function indexedTexts({ value, indexFields }: Indexed): string[] | null {
  if (value === null || indexFields === null) return null;
  const texts: string[] = [];
  for (const field of indexFields) {
    for (const part of valuesAt(value, stepsOf(field))) {
      if (texts.length === mostTexts) return texts;
      const text = readable(part);
      if (text.trim() !== "") texts.push(text);
    }
  }
  return texts;
}

export function itemTerms(item: Indexed): string | null {
  const texts = indexedTexts(item);
  return texts && searchText(texts.join("\n"));
}

export function embeddable(text: string): string {
  return headOf(text, mostCharacters);
}

type Step = string | number | "*";

/** The steps of a path: "chapters[*].text" goes to "chapters", to all of them, and to the "text" of each. */
function stepsOf(field: string): Step[] {
  if (field === "$") return [];
  const path = field.startsWith("$.") ? field.slice(2) : field;
  return [...path.matchAll(/\[(\*|-?\d+)\]|([^.[\]]+)/gu)].map(([, element, name]) => {
    if (name !== undefined) return name;
    return element === "*" ? "*" : Number(element);
  });
}

/** One by one: a value may have millions of parts. */
function* valuesAt(value: Json, [step, ...steps]: readonly Step[]): Generator<Json> {
  if (step !== undefined) for (const part of partsAt(value, step)) yield* valuesAt(part, steps);
  else if (value !== null) yield value;
}

function partsAt(value: Json, step: Step): Json[] {
  if (Array.isArray(value)) {
    if (step === "*") return value;
    const part = typeof step === "number" ? value.at(step) : undefined;
    return part === undefined ? [] : [part];
  }
  if (!isJsonObject(value) || typeof step === "number") return [];
  if (Object.hasOwn(value, step)) return [value[step] as Json];
  return step === "*" ? Object.values(value) : [];
}

/** As words and models read it: of objects and lists a line for each text, with its name. */
function readable(value: Json): string {
  if (typeof value === "string") return headOf(value, mostSearched);
  let text = "";
  for (const line of linesOf(value, "")) {
    if (text.length >= mostSearched) break;
    text += text === "" ? line : `\n${line}`;
  }
  return headOf(text, mostSearched);
}

function* linesOf(value: Json, name: string): Generator<string> {
  if (Array.isArray(value)) for (const part of value) yield* linesOf(part, name);
  else if (isJsonObject(value)) for (const [key, part] of Object.entries(value)) yield* linesOf(part, key);
  else if (value !== null && value !== "") yield name === "" ? String(value) : `${name}: ${value}`;
}
