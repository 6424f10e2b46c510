import { unescapeEntities } from "./unescape-entities.js";

/** One element of a prompt: its attributes, and its text with entities resolved. */
export interface PromptBlock {
  attributes: Record<string, string>;
  text: string;
}

/** The elements called `name` in a prompt, in order. */
export function promptBlocks(prompt: string, name: string): PromptBlock[] {
  const blocks = prompt.matchAll(new RegExp(`<${name}(\\s[^>]*)?>([\\s\\S]*?)</${name}>`, "g"));
  return [...blocks].map(([, attributes = "", text = ""]) => ({
    attributes: Object.fromEntries(
      [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [
        key,
        unescapeEntities(value),
      ]),
    ),
    text: unescapeEntities(text),
  }));
}
