import { promptBlocks, sentencesOf } from "./read-prompt.js";

/**
 * The structured output `fact_extraction`, by rule: what a few English sentence patterns say of the speaker ("My name
 * is …", "I live in …", "I am allergic to …", "I prefer …", "Always …"). Questions hold no facts. A stand-in: it
 * understands nothing else.
 */
export function extractFacts(prompt: string): Record<string, unknown> {
  const known = promptBlocks(prompt, "fact");
  const facts = promptBlocks(prompt, "message").flatMap(({ attributes, text }) =>
    sentencesOf(text)
      .filter((sentence) => !/[?？]$/.test(sentence))
      .flatMap((sentence) =>
        factsOf(sentence).map(({ fact, quote }) => {
          const slot = known.findIndex(
            (other) =>
              fact.key !== null &&
              other.attributes.key === fact.key &&
              other.attributes.category === fact.category,
          );
          return {
            ...fact,
            evidence: { message: Number(attributes.number), quote },
            correction: correction.test(sentence),
            updates: slot < 0 ? null : slot + 1,
          };
        }),
      ),
  );
  return { reasoning: "Made by rule, without a model: sentences of a known pattern.", facts };
}

/** How a sentence begins that corrects what was known. */
const correction = /^(?:no\b|sorry\b|actually\b|correction\b)|\b(?:just )?moved to\b/i;

/** A fact as a rule finds it in a sentence. */
interface RuleFact {
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly importance: number;
  readonly confidence: number;
}

type Slot = readonly [says: string, key: string, importance: number, confidence: number, text: string];
type Statement = readonly [says: string, category: string, importance: number, text: string];

/** Fields of the profile: how the sentence goes on to the value, which holds one at a time; "{}" stands for the value. */
const slots: readonly Slot[] = [
  [String.raw`\bmy (?:full |real )?name(?:'s|’s| is)`, "name", 5, 1, "The user's name is {}."],
  [String.raw`\bcall me`, "preferred_name", 4, 0.8, "The user's preferred name is {}."],
  [String.raw`\bI(?:'m|’m| am)? liv(?:e|ing) in`, "city", 4, 0.9, "The user lives in {}."],
  [String.raw`\bI(?:'ve|’ve| have)? (?:just )?moved to`, "city", 4, 0.9, "The user lives in {}."],
  [String.raw`\bI work as`, "job", 3, 0.9, "The user works as {}."],
  [String.raw`\bI work (?:at|for)`, "employer", 3, 0.9, "The user works for {}."],
  [String.raw`\bmy time ?zone is`, "timezone", 3, 1, "The user's timezone is {}."],
];

/** Statements that there can be several of, likewise. */
const statements: readonly Statement[] = [
  [String.raw`\bI(?:'m|’m| am) allergic to`, "constraints", 5, "The user is allergic to {}."],
  [String.raw`\bI (?:can't|can’t|cannot|don't|don’t) eat`, "constraints", 5, "The user does not eat {}."],
  [String.raw`\bI (?:really )?prefer`, "preferences", 3, "The user prefers {}."],
  [String.raw`\bI (?:really )?(?:like|love|enjoy)`, "preferences", 3, "The user likes {}."],
  [String.raw`\bI (?:really )?(?:dislike|hate)`, "preferences", 3, "The user dislikes {}."],
  [String.raw`\bmy goal is`, "goals", 4, "The user's goal is {}."],
  ["^(?:please )?always", "instructions", 4, "The user wants the assistant to always {}."],
  ["^(?:please )?never", "instructions", 4, "The user wants the assistant to never {}."],
];

/** The end of what is said: a comma, a conjunction that begins another statement, or the sentence's end. */
const end = String.raw`(?=\s*(?:[,;.!?]|$|\s(?:and|but)\s+(?:I|my|please|call)\b))`;
const saying = (pattern: string) => new RegExp(`${pattern}\\s+(.+?)${end}`, "i");

/** Each with what its first group said; the whole match is the evidence. */
const rules: readonly { readonly says: RegExp; fact(said: string): RuleFact }[] = [
  ...slots.map(([says, key, importance, confidence, text]) => ({
    says: saying(says),
    fact: (value: string) => ({
      category: "profile",
      key,
      value,
      text: text.replace("{}", () => value),
      importance,
      confidence,
    }),
  })),
  ...statements.map(([says, category, importance, text]) => ({
    says: saying(says),
    fact: (said: string) => ({
      category,
      key: null,
      value: null,
      text: text.replace("{}", () => said),
      importance,
      confidence: 0.9,
    }),
  })),
];

/** "My favourite tea is green tea": a slot for each kind of thing. */
const favourite = new RegExp(String.raw`\bmy favou?rite (\w+(?: \w+)?) is\s+(.+?)${end}`, "i");

/** What the rules find in `sentence`: each fact, and the words it rests on. */
function factsOf(sentence: string): { fact: RuleFact; quote: string }[] {
  const found = rules.flatMap(({ says, fact }) => {
    const [quote, said] = says.exec(sentence) ?? [];
    return quote === undefined || said === undefined ? [] : [{ fact: fact(said.trim()), quote }];
  });
  const [quote, kind, value] = favourite.exec(sentence) ?? [];
  if (quote === undefined || kind === undefined || value === undefined) return found;
  const fact = {
    ...{ category: "preferences", key: `favourite_${kind.toLowerCase().replace(/ /g, "_")}`, value },
    ...{ text: `The user's favourite ${kind} is ${value}.`, importance: 3, confidence: 0.9 },
  };
  return [...found, { fact, quote }];
}
