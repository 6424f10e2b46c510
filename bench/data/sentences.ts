/** A small deterministic generator (mulberry32), so that every run measures the same texts. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const subjects = [
  "The user",
  "Ana",
  "Ben",
  "The team",
  "Chloe",
  "The customer",
  "David",
  "The manager",
];
const verbs = [
  "prefers",
  "bought",
  "is planning",
  "finished",
  "asked about",
  "visited",
  "recommended",
  "cancelled",
  "sold",
  "works on",
  "is learning",
  "dislikes",
];
const adjectives = [
  "new",
  "old",
  "quiet",
  "expensive",
  "local",
  "annual",
  "green",
  "shared",
  "broken",
  "favourite",
];
const stems = [
  "coffee",
  "project",
  "garden",
  "report",
  "meeting",
  "recipe",
  "train",
  "budget",
  "concert",
  "server",
];
const places = ["Berlin", "Lisbon", "Oslo", "Kyoto", "Boston", "Prague", "Nairobi", "Lima"];

/**
 * A vocabulary of 12,000 words whose frequencies fall off as in natural text (Zipf), common nouns
 * first.
 */
const vocabulary = Array.from({ length: 12_000 }, (_, index) => stems[index] ?? word(index));

function word(index: number): string {
  const syllables = [
    "ba",
    "ke",
    "lo",
    "mi",
    "nu",
    "ra",
    "se",
    "ti",
    "vo",
    "za",
    "dri",
    "plo",
    "gan",
    "tur",
    "mel",
  ];
  let rest = index * 7 + 3;
  let text = "";
  do {
    text += syllables[rest % syllables.length];
    rest = Math.floor(rest / syllables.length);
  } while (rest > 0);
  return `${text}n`;
}

/** A word, the common ones often. */
function zipf(random: () => number): string {
  return vocabulary[Math.floor(vocabulary.length ** random()) - 1] as string;
}

/** A memory of one sentence, about 90 characters. */
export function sentence(random: () => number): string {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const day = 1 + Math.floor(random() * 28);
  return (
    `${pick(subjects)} ${pick(verbs)} the ${pick(adjectives)} ${zipf(random)} ${zipf(random)} ` +
    `with ${zipf(random)} in ${pick(places)} on ${day} May because of the ${zipf(random)}.`
  );
}

/** A question as people ask it: some of a memory's words, and common ones around them. */
export function question(random: () => number, about: string): string {
  const words = about.replace(/[.]/g, "").split(" ");
  const start = Math.floor(random() * (words.length - 5));
  const openings = [
    "What do you know about",
    "Do you remember",
    "Tell me again what happened with",
    "When was",
  ];
  return `${openings[Math.floor(random() * openings.length)]} ${words.slice(start, start + 5).join(" ")}?`;
}

const chatWords = [
  ...["plan", "table", "index", "deploy", "budget"],
  ...["review", "schema", "release", "meeting", "query"],
];

/**
 * A line of chat of exactly `characters` characters, as a short paragraph has them; another one for
 * another `salt`.
 */
export function line(start: string, salt: number, characters: number): string {
  let text = `${start}:`;
  for (let word = salt; text.length < characters; word += 3)
    text += ` ${chatWords[word % chatWords.length]}`;
  return `${text.slice(0, characters - 1)}.`;
}
