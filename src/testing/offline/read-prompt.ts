const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** `text` with XML's named entities resolved, once: `&amp;lt;` becomes `&lt;`. */
export function unescapeEntities(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos);/g, (entity, name: string) => entities[name] ?? entity);
}

/** One element of a prompt: its attributes, and its text with entities resolved. */
export interface PromptBlock {
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
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

/** The sentences of `text` in order, trimmed; a line break ends one too. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence !== "");
}

/** The first sentence of `text`, cut to `mostCharacters` characters with "…"; empty if there is none. */
export function firstSentence(text: string, mostCharacters = Number.POSITIVE_INFINITY): string {
  const sentence = sentencesOf(text)[0] ?? "";
  // By code point, so that no pair of surrogates is cut.
  const characters = [...sentence];
  return characters.length <= mostCharacters
    ? sentence
    : `${characters
        .slice(0, mostCharacters - 1)
        .join("")
        .trimEnd()}…`;
}

/**
 * What the stand-in said of the conversation before, from the element `earlier`, and the first sentence of each message of
 * the user's for which `told` holds, without full stops: as many as `mostCharacters` hold, the first in any case.
 */
export function subjectsSaid(
  prompt: string,
  {
    earlier,
    mostCharacters,
    told = () => true,
  }: { earlier: string; mostCharacters: number; told?: (sentence: string) => boolean },
): string[] {
  const said = promptBlocks(prompt, "message")
    .filter(({ attributes }) => attributes.role === "user")
    .map(({ text }) => firstSentence(text, 100))
    .filter(told)
    .map((sentence) => sentence.replace(/[.!。！]$/u, ""));
  const before = promptBlocks(prompt, earlier)
    .slice(0, 1)
    .map(({ text }) => text.replace(/^The user said: |\.$/g, ""));
  let length = 0;
  return [...before, ...new Set(said)].filter((subject, index) => {
    length += subject.length + 2;
    return index === 0 || length <= mostCharacters;
  });
}

/** The words of `text`: lower case, compatibility forms unified, accents gone. */
export function wordsOf(text: string): string[] {
  // More marks on a letter than any script has would take normalising time with their square.
  const plain = text
    .replace(/(\p{M}{30})\p{M}+/gu, "$1")
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC");
  return plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** English words that say little about what a sentence is about, as {@link stem} leaves them. */
const stopWords = new Set(
  (
    "a about all also am an and any are as at be because been but by can could did do does for from had has have he her here him his " +
    "how i if in into is it its just me my no not now of on or our out please she should so some than that the their them then there " +
    "these they thing this those to too up us was we were what when where which who whose why will with would yes you your s m t re ve d ll"
  ).split(" "),
);

/** Whether `word` says little about what a sentence is about. */
export function isStopWord(word: string): boolean {
  return stopWords.has(word);
}

/**
 * `word` without the commonest English endings, so that "liked", "likes" and "liking" meet. Crude on purpose: it only
 * has to map the forms of a word to one string, which need not be a word.
 */
export function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  const singular = word
    .replace(/ies$/, "y")
    .replace(/(s|x|z|ch|sh)es$/, "$1")
    .replace(/([^sui])s$/, "$1");
  const base = singular.replace(/([aeiouy].*)(?:ing|ed)$/, "$1");
  const cut = base === singular || base.length < 2 ? singular : base.replace(/([bdgklmnprt])\1$/, "$1");
  return cut.length > 3 ? cut.replace(/e$/, "") : cut;
}
