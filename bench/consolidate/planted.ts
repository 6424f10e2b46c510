import { seeded } from "../data/sentences.js";

/** A memory of the benchmark, and which fact it tells. */
export interface PlantedMemory {
  readonly text: string;
  /** Two memories with one fact are doubles. */
  readonly fact: number;
}

/** How a fact is put, put otherwise, and told of another thing that looks the same. */
interface Pattern {
  readonly plain: (what: string, detail: string) => string;
  readonly otherwise: (what: string, detail: string) => string;
  readonly miss: (what: string, detail: string, other: string) => string;
  readonly details: readonly string[];
}

const patterns: readonly Pattern[] = [
  {
    plain: (what, amount) => `The user pays ${amount} euros for ${what} at the market.`,
    otherwise: (what, amount) =>
      `For ${what} at the market the user pays ${amount} euros each time.`,
    miss: (what, _, other) => `The user pays ${other} euros for ${what} at the market.`,
    details: ["12", "15", "20", "35", "48", "60", "75", "90"],
  },
  {
    plain: (what, weekday) => `The user has an appointment about ${what} on ${weekday}.`,
    otherwise: (what, weekday) =>
      `On ${weekday} there is an appointment of the user about ${what}.`,
    miss: (what, _, other) => `The user has an appointment about ${what} on ${other}.`,
    details: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"],
  },
  {
    plain: (what, person) => `The user talks about ${what} with ${person} after work.`,
    otherwise: (what, person) => `After work the user talks with ${person} about ${what}.`,
    miss: (what, _, other) => `The user talks about ${what} with ${other} after work.`,
    details: ["Anna", "Boris", "Chloe", "David", "Emre", "Fatima"],
  },
  {
    plain: (what, place) => `The user stores ${what} in the ${place}.`,
    otherwise: (what, place) => `In the ${place} the user stores all of the ${what}.`,
    miss: (what, place) => `The user does not store ${what} in the ${place}.`,
    details: ["cellar", "attic", "garage", "shed", "kitchen", "hallway"],
  },
  {
    plain: (what, month) => `The user started collecting ${what} in ${month}.`,
    otherwise: (what, month) => `In ${month} the user started a collection of ${what}.`,
    miss: (what, _, other) => `The user started collecting ${what} in ${other}.`,
    details: ["March 2021", "April 2022", "June 2020", "October 2023", "December 2019"],
  },
];

const things = (
  "kayaks drums lamps teapots violins stamps tents helmets marbles blankets cameras puppets bicycles candles " +
  "fossils ladders mirrors telescopes baskets hammocks lanterns puzzles quilts ribbons saddles trumpets umbrellas " +
  "vases whistles anchors buckets compasses dominoes easels feathers globes harps inkwells kettles looms magnets " +
  "needles orchids paintings radios sculptures thimbles tulips vinyls walnuts yarns zithers brushes carpets " +
  "postcards goggles sandals mittens crystals scooters"
).split(" ");

/** How many memories there are of each sort. */
const planted = { facts: 300, doubles: 100, misses: 100 };

/**
 * 500 memories: 300 facts, 100 of them told once more in other words, and of another 100 a near
 * miss, with another number, date or person, or a negation. In an order in which doubles do not
 * come together.
 */
export function plantMemories(seed: number): PlantedMemory[] {
  const random = seeded(seed);
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const facts = things.flatMap((what) =>
    patterns.map((pattern) => {
      const detail = pick(pattern.details);
      return {
        ...pattern,
        what,
        detail,
        other: pick(pattern.details.filter((each) => each !== detail)),
      };
    }),
  );
  const inOrder = facts
    .slice(0, planted.facts)
    .map((fact, id) => ({ fact, id, at: random() }))
    .toSorted((one, other) => one.at - other.at);
  const told = inOrder.flatMap(({ fact, id }, place): PlantedMemory[] => {
    const { what, detail, other } = fact;
    const plain = { text: fact.plain(what, detail), fact: id };
    if (place < planted.doubles) return [plain, { text: fact.otherwise(what, detail), fact: id }];
    if (place >= planted.doubles + planted.misses) return [plain];
    return [plain, { text: fact.miss(what, detail, other), fact: planted.facts + id }];
  });
  return told
    .map((memory) => ({ memory, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ memory }) => memory);
}
