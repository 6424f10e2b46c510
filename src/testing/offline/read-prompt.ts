const entities: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
};

/** `text` with XML's named entities resolved, once: `&amp;lt;` becomes `&lt;`. */
export function unescapeEntities(text: string): string {
  return text.replace(
    /&(lt|gt|amp|quot|apos);/g,
    (entity, name: string) => entities[name] ?? entity,
  );
}

/**
 * The elements `name` of a prompt, in order: their attributes, and their text with entities
 * resolved.
 */
export function promptBlocks(prompt: string, name: string) {
  const blocks = prompt.matchAll(new RegExp(`<${name}(\\s[^>]*)?>([\\s\\S]*?)</${name}>`, "g"));
  return [...blocks].map(([, written = "", text = ""]) => {
    const attributes: Readonly<Record<string, string>> = Object.fromEntries(
      [...written.matchAll(/([\w-]{1,60})="([^"]*)"/g)].map(([, key = "", value = ""]) => [
        key,
        unescapeEntities(value),
      ]),
    );
    return { attributes, text: unescapeEntities(text) };
  });
}

/** The sentences of `text`, trimmed; a line break ends one too. */
export function promptSentences(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "");
}

/** The first sentence of `text`, cut with "…"; empty if there is none. */
export function firstSentence(text: string, maxCharacters = Number.POSITIVE_INFINITY): string {
  const sentence = promptSentences(text)[0] ?? "";
  // By code point, so that no surrogate pair is cut.
  const characters = [...sentence];
  if (characters.length <= maxCharacters) return sentence;
  return `${characters
    .slice(0, maxCharacters - 1)
    .join("")
    .trimEnd()}…`;
}
