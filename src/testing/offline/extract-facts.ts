import { promptBlocks, sentencesOf } from "./read-prompt.js";

/** A fact as a rule finds it in a sentence. */
interface RuleFact {
  category: string;
  key: string | null;
  value: string | null;
  text: string;
  importance: number;
  confidence: number;
}

interface FactRule {
  /** Its first group is what is said; the whole match is the evidence. */
  says: RegExp;
  fact(said: string): RuleFact;
}

/** The end of what is said: a comma, a conjunction that begins another statement, or the sentence's end. */
const END = String.raw`(?=\s*(?:[,;.!?]|$|\s(?:and|but)\s+(?:I|my|please|call)\b))`;
const I_AM = String.raw`\bI(?:'m|’m| am)`;
const rule = (pattern: string, fact: FactRule["fact"]): FactRule => ({
  says: new RegExp(`${pattern}\\s+(.+?)${END}`, "i"),
  fact,
});

/** A field of the profile: one value at a time. */
const slot = (key: string, importance: number, confidence: number, sentence: (value: string) => string) => {
  return (value: string): RuleFact => ({
    ...{ category: "profile", key, value, text: sentence(value), importance, confidence },
  });
};

/** A statement that there can be several of. */
const statement = (category: string, importance: number, sentence: (said: string) => string) => {
  return (said: string): RuleFact => ({
    ...{ category, key: null, value: null, text: sentence(said), importance, confidence: 0.9 },
  });
};

const RULES: FactRule[] = [
  rule(
    String.raw`\bmy (?:full |real )?name(?:'s|’s| is)`,
    slot("name", 5, 1, (name) => `The user's name is ${name}.`),
  ),
  rule(
    String.raw`\bcall me`,
    slot("preferred_name", 4, 0.8, (name) => `The user's preferred name is ${name}.`),
  ),
  rule(
    String.raw`\bI(?:'m|’m| am)? liv(?:e|ing) in`,
    slot("city", 4, 0.9, (city) => `The user lives in ${city}.`),
  ),
  rule(
    String.raw`\bI(?:'ve|’ve| have)? (?:just )?moved to`,
    slot("city", 4, 0.9, (city) => `The user lives in ${city}.`),
  ),
  rule(
    String.raw`\bI work as`,
    slot("job", 3, 0.9, (job) => `The user works as ${job}.`),
  ),
  rule(
    String.raw`\bI work (?:at|for)`,
    slot("employer", 3, 0.9, (name) => `The user works for ${name}.`),
  ),
  rule(
    String.raw`\bmy time ?zone is`,
    slot("timezone", 3, 1, (zone) => `The user's timezone is ${zone}.`),
  ),
  rule(
    `${I_AM} allergic to`,
    statement("constraints", 5, (what) => `The user is allergic to ${what}.`),
  ),
  rule(
    String.raw`\bI (?:can't|can’t|cannot|don't|don’t) eat`,
    statement("constraints", 5, (what) => `The user does not eat ${what}.`),
  ),
  rule(
    String.raw`\bI (?:really )?prefer`,
    statement("preferences", 3, (what) => `The user prefers ${what}.`),
  ),
  rule(
    String.raw`\bI (?:really )?(?:like|love|enjoy)`,
    statement("preferences", 3, (what) => `The user likes ${what}.`),
  ),
  rule(
    String.raw`\bI (?:really )?(?:dislike|hate)`,
    statement("preferences", 3, (what) => `The user dislikes ${what}.`),
  ),
  rule(
    String.raw`\bmy goal is`,
    statement("goals", 4, (what) => `The user's goal is ${what}.`),
  ),
  rule(
    "^(?:please )?always",
    statement("instructions", 4, (what) => `The user wants the assistant to always ${what}.`),
  ),
  rule(
    "^(?:please )?never",
    statement("instructions", 4, (what) => `The user wants the assistant to never ${what}.`),
  ),
];

/** "My favourite tea is green tea": a slot for each kind of thing. */
const FAVOURITE = new RegExp(String.raw`\bmy favou?rite (\w+(?: \w+)?) is\s+(.+?)${END}`, "i");

/** What the rules find in `sentence`: each fact, and the words it rests on. */
function factsOf(sentence: string): { fact: RuleFact; quote: string }[] {
  const found = RULES.flatMap(({ says, fact }) => {
    const [quote, said] = says.exec(sentence) ?? [];
    return quote === undefined || said === undefined ? [] : [{ fact: fact(said.trim()), quote }];
  });
  const [quote, kind, value] = FAVOURITE.exec(sentence) ?? [];
  if (quote === undefined || kind === undefined || value === undefined) return found;
  const fact = {
    ...{ category: "preferences", key: `favourite_${kind.toLowerCase().replace(/ /g, "_")}`, value },
    ...{ text: `The user's favourite ${kind} is ${value}.`, importance: 3, confidence: 0.9 },
  };
  return [...found, { fact, quote }];
}

/** How a sentence begins that corrects what was known. */
const CORRECTION = /^(?:no\b|sorry\b|actually\b|correction\b)|\b(?:just )?moved to\b/i;

/**
 * The structured output `fact_extraction`, by rule: what a few English sentence patterns say of the speaker ("My name is …",
 * "I live in …", "I am allergic to …", "I prefer …", "Always …"). Questions hold no facts. A stand-in: it understands nothing else.
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
            correction: CORRECTION.test(sentence),
            updates: slot < 0 ? null : slot + 1,
          };
        }),
      ),
  );
  return { reasoning: "Made by rule, without a model: sentences of a known pattern.", facts };
}
