import { isJsonObject, type Json, type JsonObject } from "../text/plain-json.js";
import type { ExportLineOf } from "./export-line.js";
import { instructs, withheld } from "./screen-line.js";

/** An item of a file that nobody vouches for, as it may be imported. */
export interface ScreenedItem {
  readonly line: ExportLineOf<"item">;
  readonly held: boolean;
}

/**
 * `line` without what reads as instructions to a model: agents show models what they keep, names too. Each such text is left
 * without its words; the rest of the value stays.
 */
export async function screenItem(line: ExportLineOf<"item">): Promise<ScreenedItem> {
  let held = false;
  const harmless = async (text: string): Promise<string> => {
    if (!(await instructs(text))) return text;
    held = true;
    return withheld;
  };
  const screened = async (value: Json): Promise<Json> => {
    if (typeof value === "string") return harmless(value);
    if (Array.isArray(value)) return eachOf(value, screened);
    if (!isJsonObject(value)) return value;
    const entries = await eachOf(Object.entries(value), async ([key, inner]) => [
      await harmless(key),
      await screened(inner),
    ]);
    return Object.fromEntries(entries) as JsonObject;
  };
  const made = {
    ...line,
    namespace: await eachOf(line.namespace, harmless),
    key: await harmless(line.key),
    value: (await screened(line.value as Json)) as NonNullable<Json>,
  };
  return { line: made, held };
}

/** One after the other: a value may have a hundred thousand texts, and each is read at once. */
async function eachOf<Value, Made>(
  values: readonly Value[],
  make: (value: Value) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const value of values) made.push(await make(value));
  return made;
}
