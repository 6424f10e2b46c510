import { firstSentence, promptBlocks, promptSentences } from "./read-prompt.js";
import { plainWordsOf } from "./words.js";

type Task = (prompt: string) => Record<string, unknown>;

export const offlineTasks = {
  conversation_summary: summarizeTurns,
  fact_extraction: factsTask,
  episode_summary: (prompt) => ({
    reasoning,
    summary: `The user said: ${userSentences(prompt, 540).join("; ")}.`,
  }),
  app_note: noteConversation,
  note_compaction: compactionTask,
  procedure_steps: (prompt) => {
    const steps = userMessages(prompt).map((text) => firstSentence(text));
    const [goal] = promptBlocks(prompt, "goal");
    return { reasoning, title: goal?.text ?? steps[0]?.replace(/[.!]$/, "") ?? "", steps };
  },
  memory_pairs: (prompt) => verdictsOn(prompt, "pair", "unrelated"),
  memory_doubts: (prompt) => verdictsOn(prompt, "memory", "unknown"),
  user_insights: () => ({ insights: [] }),
} satisfies Readonly<Record<string, Task>>;

const reasoning = "Made by rule, without a model.";

/** The same verdict for each element `name`. */
const verdictsOn = (prompt: string, name: string, verdict: string) => ({
  verdicts: promptBlocks(prompt, name).map((_, index) => ({
    [name]: index + 1,
    verdict,
    reason: reasoning,
  })),
});

const userMessages = (prompt: string) =>
  promptBlocks(prompt, "message").flatMap(({ attributes, text }) =>
    attributes.role === "user" ? [text] : [],
  );

/**
 * Earlier text, then the first sentence of each user message, within `maxCharacters`; at least
 * one.
 */
function userSentences(
  prompt: string,
  maxCharacters: number,
  isKept = (_: string) => true,
): string[] {
  const earlier = [
    ...promptBlocks(prompt, "episode_so_far"),
    ...promptBlocks(prompt, "note_so_far"),
  ];
  const before = earlier.map(({ text }) => text.replace(/^The user said: |\.$/g, ""));
  const sentences = userMessages(prompt)
    .map((text) => firstSentence(text, 100))
    .filter(isKept);
  let length = 0;
  return [...before, ...new Set(sentences.map((each) => each.replace(/[.!。！]$/u, "")))].filter(
    (each, index) => {
      length += each.length + 2;
      return index === 0 || length <= maxCharacters;
    },
  );
}

function summarizeTurns(prompt: string): Record<string, unknown> {
  const drop = Number(/<drop\s[^>]*before="(\d+)"/.exec(prompt)?.[1] ?? 0);
  const seqOf = (line: string) => /^Round of seq (\d+): /.exec(line)?.[1];
  const lines = promptBlocks(prompt, "previous_summary").flatMap(({ attributes, text }) => {
    // Other lines count as the last turn that their summary covers.
    const last = attributes.covers?.split("-")[1] ?? Number.POSITIVE_INFINITY;
    return text
      .split("\n")
      .filter((line) => line.trim() !== "" && Number(seqOf(line) ?? last) >= drop);
  });
  const [, added = ""] = /<new_messages>([\s\S]*?)<\/new_messages>/.exec(prompt) ?? [];
  const turns: { seq: string; asked: string; answered: string }[] = [];
  for (const { attributes, text } of promptBlocks(added, "message")) {
    const { seq = "0", role } = attributes;
    const sentence = firstSentence(text, 100);
    if (role === "user" || turns.length === 0)
      turns.push({ seq, asked: role === "user" ? sentence : "", answered: "" });
    const turn = turns.at(-1);
    // The last one with text: earlier ones in a turn only call tools.
    if (turn && role === "assistant" && sentence !== "") turn.answered = sentence;
  }
  const made = turns.map(
    ({ seq, asked, answered }) =>
      `Round of seq ${seq}: ${asked || "(nothing)"} → ${answered || "(no answer)"}`,
  );
  return { reasoning, summary: [...lines, ...made].join("\n") };
}

/**
 * Beginnings of sentences with a fact, its category and key, and its text; "{}" is the rest of the
 * sentence.
 */
const factPatterns = [
  ["my (?:full |real )?name(?:'s|’s| is)", "profile", "name", "The user's name is {}."],
  ["call me", "profile", "preferred_name", "The user's preferred name is {}."],
  ["I(?:'m|’m| am)? liv(?:e|ing) in", "profile", "city", "The user lives in {}."],
  ["I(?:'ve|’ve| have)? (?:just )?moved to", "profile", "city", "The user lives in {}."],
  ["I work as", "profile", "job", "The user works as {}."],
  ["I work (?:at|for)", "profile", "employer", "The user works for {}."],
  ["my time ?zone is", "profile", "timezone", "The user's timezone is {}."],
  ["I(?:'m|’m| am) allergic to", "constraints", null, "The user is allergic to {}."],
  ["I (?:can't|can’t|cannot|don't|don’t) eat", "constraints", null, "The user does not eat {}."],
  ["I (?:really )?prefer", "preferences", null, "The user prefers {}."],
  ["I (?:really )?(?:like|love|enjoy)", "preferences", null, "The user likes {}."],
  ["I (?:really )?(?:dislike|hate)", "preferences", null, "The user dislikes {}."],
  ["my goal is", "goals", null, "The user's goal is {}."],
  ["(?<=^(?:please )?)always", "instructions", null, "The user wants the assistant to always {}."],
  ["(?<=^(?:please )?)never", "instructions", null, "The user wants the assistant to never {}."],
] as const;
const factEnd = String.raw`(?=\s*(?:[,;.!?]|$|\s(?:and|but)\s+(?:I|my|please|call)\b))`;
const saying = (pattern: string) => new RegExp(String.raw`\b${pattern}\s+(.+?)${factEnd}`, "i");
const favourite = saying(String.raw`my favou?rite (\w+(?: \w+)?) is`);
const importances: Readonly<Record<string, number>> = {
  profile: 4,
  constraints: 5,
  goals: 4,
  instructions: 4,
};
const corrects = /^(?:no\b|sorry\b|actually\b|correction\b)|\b(?:just )?moved to\b/i;

function factsTask(prompt: string): Record<string, unknown> {
  const existing = promptBlocks(prompt, "memory").map(
    ({ attributes: { category, key } }) => `${category}/${key}`,
  );
  const facts = promptBlocks(prompt, "message").flatMap(({ attributes, text }) =>
    promptSentences(text)
      .filter((sentence) => !/[?？]$/.test(sentence))
      .flatMap((sentence) =>
        factsIn(sentence).map((fact) => ({
          ...fact,
          message: Number(attributes.number),
          ...relationIn(sentence, existing.indexOf(`${fact.category}/${fact.key}`)),
          stated_by_user: true,
          personal: personalKeys.has(fact.key ?? "") ? fact.key : "none",
        })),
      ),
  );
  return { reasoning, facts, forget: [] };
}

/** Only a correction replaces an existing value. */
function relationIn(sentence: string, slot: number) {
  if (slot < 0) return { relation: "new", target: null };
  return { relation: corrects.test(sentence) ? "updates" : "new", target: slot + 1 };
}

const personalKeys: ReadonlySet<string> = new Set([
  "preferred_name",
  "pronouns",
  "city",
  "language",
]);

function factsIn(sentence: string) {
  const fact = (
    quote: string,
    category: string,
    key: string | null,
    value: string,
    text: string,
  ) => ({
    quote,
    category,
    key,
    value: key === null ? null : value,
    text: text.replace("{}", () => value),
    importance: importances[category] ?? 3,
    confidence: 0.9,
  });
  const found = factPatterns.flatMap(([says, category, key, text]) => {
    const [quote, value] = saying(says).exec(sentence) ?? [];
    return quote && value ? [fact(quote, category, key, value.trim(), text)] : [];
  });
  const [quote, kind, value] = favourite.exec(sentence) ?? [];
  if (!quote || !kind || !value) return found;
  const key = `favourite_${kind.toLowerCase().replace(/ /g, "_")}`;
  return [...found, fact(quote, "preferences", key, value, `The user's favourite ${kind} is {}.`)];
}

const courtesy = /^(?:hi|hello|hey|thanks|thank you|bye|goodbye|ok|okay)[\s!.,]*$/i;

function noteConversation(prompt: string): Record<string, unknown> {
  const isKept = (sentence: string) =>
    sentence !== "" && !/[?？]$/.test(sentence) && !courtesy.test(sentence);
  const sentences = userSentences(prompt, 180, isKept);
  if (sentences.length === 0) return { reasoning, note: "", importance: 1, tags: [] };
  return { reasoning, note: `The user said: ${sentences.join("; ")}.`, importance: 3, tags: [] };
}

/** Deletes the earlier of two notes with the same words, else the first of the least important. */
function compactionTask(prompt: string): Record<string, unknown> {
  const notes = promptBlocks(prompt, "note")
    .filter(({ attributes }) => attributes.stays === undefined)
    .map(({ attributes: { number, importance }, text }) => ({
      number: Number(number),
      importance: Number(importance),
      words: [...new Set(plainWordsOf(text))].sort().join(" "),
    }));
  const duplicate = notes.find(({ words }, at) =>
    notes.slice(at + 1).some((other) => other.words === words),
  );
  const least = notes.toSorted((one, other) => one.importance - other.importance)[0];
  const decision = duplicate
    ? { target: duplicate.number, reason: "A later note says the same." }
    : { target: least?.number ?? 1, reason: "It is the oldest of those that matter least." };
  return { reasoning, action: "delete", with: null, text: null, ...decision };
}
