import type { MemoryDraft } from "../../src/index.js";
import { line, seeded } from "../data/sentences.js";

const charactersPerToken = 4;

/** Text of exactly so many tokens; another one for another `salt`. */
export function textOf(start: string, salt: number, tokens: number): string {
  return line(start, salt, tokens * charactersPerToken);
}

/** What a user does, the thing they worry about, with whom, and when. */
type Topic = readonly [doing: string, thing: string, who: string, when: string];

const topics: readonly Topic[] = [
  ["growing tomatoes", "the greenhouse", "a neighbour", "in spring"],
  ["training for a marathon", "the long run", "the running club", "on Sundays"],
  ["learning Portuguese", "the subjunctive", "a tutor", "on Tuesday evenings"],
  ["restoring an old bicycle", "the rear hub", "an uncle", "at weekends"],
  ["baking sourdough", "the starter", "a sister", "every Friday"],
  ["planning a trip to Norway", "the night train", "two old friends", "for August"],
  ["renovating the kitchen", "the oak worktop", "a carpenter", "before winter"],
  ["keeping bees", "the second hive", "a retired farmer", "through the summer"],
  ["teaching chess to children", "the school tournament", "another parent", "on Mondays"],
  ["helping at an animal shelter", "the shy greyhound", "the vet", "on Saturdays"],
];

const memoryForms: readonly (readonly [category: string, text: (topic: Topic) => string])[] = [
  ["preferences", ([doing, thing]) => `The user prefers ${doing} with ${thing} settled first.`],
  ["interests", ([doing, , who, when]) => `The user enjoys ${doing} ${when}, mostly with ${who}.`],
  [
    "tasks",
    ([doing, thing]) => `The user wants to be done with ${thing} by June and to go on ${doing}.`,
  ],
  [
    "relationships",
    ([doing, , who]) => `It was ${who} who got the user into ${doing}, two years ago.`,
  ],
  [
    "constraints",
    ([doing, , , when]) => `The user has at most four hours a week for ${doing}, ${when}.`,
  ],
  [
    "history",
    ([doing, thing]) => `Last year ${thing} cost the user more than all the rest of ${doing}.`,
  ],
  [
    "projects",
    ([, thing, who, when]) => `The user and ${who} will look at ${thing} together ${when}.`,
  ],
  [
    "knowledge",
    ([doing, thing]) => `The user has read two books about ${doing}; neither explains ${thing}.`,
  ],
];

/** 80 memories of eight categories, eight about each topic. */
export const memories: readonly MemoryDraft[] = topics.flatMap((topic) =>
  memoryForms.map(([category, text]) => ({ category, text: text(topic) })),
);

const tellings: readonly ((topic: Topic) => string)[] = [
  ([doing, thing]) => `I spent most of yesterday ${doing}, and ${thing} gave me trouble again.`,
  ([, thing, who]) =>
    `This morning ${who} asked me about ${thing}, and I did not know what to say.`,
  ([doing, , , when]) => `I really like ${doing} ${when}, but it takes more time than I have.`,
  ([, thing]) => `I prefer to deal with ${thing} first and to leave the rest for later.`,
  ([doing]) => `The weather was awful, so ${doing} has to wait until next week.`,
  ([, thing, who]) =>
    `We finally sorted out ${thing}, ${who} and I, and it took the whole afternoon.`,
  ([doing, thing]) => `A friend who has been ${doing} for years says that ${thing} is overrated.`,
  ([doing, thing]) => `I found an article about ${doing} with a whole page on ${thing}.`,
  ([doing]) => `My goal is to get better at ${doing} without spending much money.`,
  ([, thing]) => `I had a dream about ${thing} last night, which says something about my week.`,
];

const askings: readonly ((topic: Topic) => string)[] = [
  ([, thing]) => ` What would you do about ${thing}?`,
  ([doing]) => ` Could you remind me what I told you about ${doing}?`,
  () => " How long should I plan for it?",
  ([, , who]) => ` Is it worth asking ${who} for help?`,
  ([doing]) => ` Can you give me three ideas for ${doing} that cost nothing?`,
  () => " Does that sound reasonable to you?",
  () => "",
];

const closings = [
  ...[
    "",
    "",
    "",
    " Thanks in advance.",
    " No hurry.",
    " Keep it short, please.",
    " You know how I am.",
  ],
  ...[
    " I have an hour tonight.",
    " It is not urgent, but it bothers me.",
    " Say so if I am wrong.",
  ],
];

/**
 * What a user says in `count` turns, no two the same: a few turns about one topic, then about
 * another.
 */
export function usersWords(count: number, seed: number): string[] {
  const random = seeded(seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const said = new Set<string>();
  let topic = pick(topics);
  while (said.size < count) {
    if (random() < 0.3) topic = pick(topics);
    said.add(pick(tellings)(topic) + pick(askings)(topic) + pick(closings));
  }
  return [...said];
}
