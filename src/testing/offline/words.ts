/** The words of `text`: lower case, without compatibility forms and accents. */
export function plainWordsOf(text: string): string[] {
  // Bounded: normalising many marks on one letter takes quadratic time.
  const plain = text
    .replace(/(\p{M}{30})\p{M}+/gu, "$1")
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC");
  return plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Unstemmed, with what apostrophes leave. */
const stopWords = new Set(
  (
    "a about all also am an and any are as at be because been but by can could did do does for from had has have he her here him his " +
    "how i if in into is it its just me my no not now of on or our out please she should so some than that the their them then there " +
    "these they thing this those to too up us was we were what when where which who whose why will with would yes you your s m t re ve d ll"
  ).split(" "),
);

export const isStopWord = (word: string): boolean => stopWords.has(word);

/** "liked", "likes" and "liking" become one string, which need not be a word. */
export function stem(word: string): string {
  if (!/^[a-z]{4,60}$/.test(word)) return word;
  const singular = word
    .replace(/ies$/, "y")
    .replace(/(s|x|z|ch|sh)es$/, "$1")
    .replace(/([^sui])s$/, "$1");
  const base = singular.replace(/([aeiouy].*)(?:ing|ed)$/, "$1");
  const cut =
    base === singular || base.length < 2 ? singular : base.replace(/([bdgklmnprt])\1$/, "$1");
  return cut.length > 3 ? cut.replace(/e$/, "") : cut;
}
