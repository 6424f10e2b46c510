/** The sentences of `text` in order, trimmed; a line break ends one too. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "");
}

/** The first sentence of `text`, cut to `maxLength` characters with "…"; empty if there is none. */
export function firstSentence(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  const sentence = sentencesOf(text)[0] ?? "";
  // by code point, so that no pair of surrogates is cut
  const characters = [...sentence];
  return characters.length <= maxLength
    ? sentence
    : `${characters
        .slice(0, maxLength - 1)
        .join("")
        .trimEnd()}…`;
}
