/** What is said over and over: each input is hostile to some rule. */
const repeated: Readonly<Record<string, string>> = {
  "a letter": "a",
  letters: "ha",
  capitals: "aB",
  words: "word ",
  spaces: " ",
  "empty lines": "\n",
  "white space": " \n\t",
  digits: "7",
  dates: "1 may 2022, ",
  days: "in 3 ",
  "full stops": ".",
  sentences: "I. ",
  quotes: "\"'",
  hashes: "#",
  stars: "**",
  dashes: "-",
  "equals signs": "=",
  underscores: "_",
  apostrophes: "n't ",
  titles: "Dr. ",
  slashes: "/a.b",
  brackets: "[",
  images: "![](",
  braces: '{"name":',
  "open tags": "<system ",
  "tags of memory": "<memory>",
  "open and closed": "<memory></memory>",
  ampersands: "&<>",
  ignore: "ignore all ",
  always: "always ",
  numbers: "1. ",
  colons: "system: ",
  addresses: "send to a@b ",
  ideographs: "语言",
  thai: "กำ",
  emoji: "👩‍👩‍👧",
  marks: "\u0301\u0316",
  "marks of Arabic": "\u064e\u0651",
  ligatures: "\ufdfa",
  invisible: "\u200b\u00ad",
  "wide letters": "ｉｇ",
  halves: "\ud800",
  escapes: '\\"',
};

/** A hostile text. */
export interface HostileInput {
  readonly name: string;
  /** The text of so many characters. */
  readonly text: (characters: number) => string;
}

/** Texts for rules and calls: repetitions, and what never repeats. */
export const hostileInputs: readonly HostileInput[] = [
  ...Object.entries(repeated).map(([name, part]) => repeatedInput(name, part)),
  {
    name: "different words",
    text: (characters) => numbered(characters, (index) => `w${index.toString(36)} `),
  },
  {
    name: "different ideographs",
    text: (characters) =>
      numbered(characters, (index) => String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000))),
  },
  {
    name: "a long beginning",
    text: (characters) => `${"a ".repeat(characters / 2 - 10)}instructions: b`,
  },
];

/** Inputs for calls, which take longer than rules: one of each kind of trouble. */
export const callInputs: readonly HostileInput[] = [
  ...["a letter", "empty lines", "different words", "different ideographs", "marks"],
  ...["tags of memory", "open tags", "ligatures", "halves", "escapes"],
].map(inputCalled);

/** Inputs for what reads dates. */
export const dateInputs: readonly HostileInput[] = [
  ...["dates", "days", "digits", "words", "ideographs", "dashes"],
  ...["colons", "full stops", "different words"],
].map(inputCalled);

/** `part` over and over. */
export function repeatedInput(name: string, part: string): HostileInput {
  return {
    name,
    text: (characters) => part.repeat(Math.ceil(characters / part.length)).slice(0, characters),
  };
}

function inputCalled(name: string): HostileInput {
  const input = hostileInputs.find((other) => other.name === name);
  if (!input) throw new Error(`There is no input called "${name}".`);
  return input;
}

function numbered(characters: number, part: (index: number) => string): string {
  let text = "";
  for (let index = 0; text.length < characters; index++) text += part(index);
  return text.slice(0, characters);
}
