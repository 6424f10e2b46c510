import {
  firstSentence,
  isStopWord,
  promptBlocks,
  sentencesOf,
  stem,
  subjectsSaid,
  wordsOf,
} from "./read-prompt.js";

/**
 * The structured output `conversation_summary`, by rule: the earlier summary's lines that stay, and one line for each
 * new round, `Round of seq 6: <what was said> → <what was answered>`, the first sentence of each.
 *
 * Reads the blocks `<previous_summary covers="0-5">`, `<new_messages>` with `<message seq role>`, and
 * `<drop before="2">`. Lines of rounds that began before the drop go; a line that is not this function's counts as the
 * last round its summary covers.
 */
export function summarizeRounds(prompt: string): Record<string, unknown> {
  const drop = Number(/<drop\s[^>]*before="(\d+)"/.exec(prompt)?.[1] ?? 0);
  const earlier = promptBlocks(prompt, "previous_summary").flatMap(({ attributes, text }) => {
    const coversTo = Number(/^\d+-(\d+)$/.exec(attributes.covers ?? "")?.[1] ?? Number.POSITIVE_INFINITY);
    return linesOf(text).filter((line) => (seqOf(line) ?? coversTo) >= drop);
  });
  return {
    reasoning: "Made by rule, without a model: the first sentences of each round.",
    summary: [...earlier, ...roundsOf(prompt).map(lineOf)].join("\n"),
  };
}

function linesOf(summary: string): string[] {
  return summary
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function seqOf(line: string): number | undefined {
  const seq = /^Round of seq (\d+): /.exec(line)?.[1];
  return seq === undefined ? undefined : Number(seq);
}

interface Round {
  readonly seq: number;
  readonly said: string;
  answered: string;
}

function roundsOf(prompt: string): Round[] {
  const rounds: Round[] = [];
  const [, added = ""] = /<new_messages>([\s\S]*?)<\/new_messages>/.exec(prompt) ?? [];
  for (const { attributes, text } of promptBlocks(added, "message")) {
    const { seq = 0, role } = attributes;
    const sentence = firstSentence(text, 100);
    if (role === "user" || rounds.length === 0)
      rounds.push({ seq: Number(seq), said: role === "user" ? sentence : "", answered: "" });
    const round = rounds.at(-1);
    // The last one with text: what comes before it in a round only calls tools.
    if (round && role === "assistant" && sentence !== "") round.answered = sentence;
  }
  return rounds;
}

function lineOf({ seq, said, answered }: Round): string {
  return `Round of seq ${seq}: ${said || "(nothing)"} → ${answered || "(no answer)"}`;
}

/**
 * The structured output `same_fact`, by rule: statements with the same words are the same, one with more words says
 * more, all others differ. A stand-in: it knows no synonyms.
 */
export function compareFacts(prompt: string): Record<string, unknown> {
  const verdicts = promptBlocks(prompt, "pair").map(({ text }, index) => {
    // The pair's own text was unescaped with it.
    const known = subjects(/<remembered>([\s\S]*?)<\/remembered>/.exec(text)?.[1] ?? "");
    const said = subjects(/<said>([\s\S]*?)<\/said>/.exec(text)?.[1] ?? "");
    return { pair: index + 1, verdict: compare(known, said) };
  });
  return { reasoning: "Made by rule, without a model: the words they share.", verdicts };
}

function compare(known: ReadonlySet<string>, said: ReadonlySet<string>): "different" | "same" | "says_more" {
  const shared = [...known].filter((word) => said.has(word)).length;
  if (shared === 0 || shared < known.size) return "different";
  return said.size === known.size ? "same" : "says_more";
}

/**
 * The structured output `memory_pairs`, by rule: two memories with the same words are the same, all others unrelated. A
 * stand-in: it knows no other words for anything.
 */
export function judgePairs(prompt: string): Record<string, unknown> {
  const verdicts = promptBlocks(prompt, "pair").map(({ text }, index) => {
    // The pair's own text was unescaped with it.
    const [one = new Set<string>(), other = new Set<string>()] = promptBlocks(text, "memory").map((each) =>
      subjects(each.text),
    );
    const isSame = one.size === other.size && [...one].every((word) => other.has(word));
    const reason = isSame ? "Both have the same words." : "They have other words.";
    return { pair: index + 1, reason, verdict: isSame ? "same" : "unrelated" };
  });
  return { verdicts };
}

function subjects(text: string): ReadonlySet<string> {
  return new Set(
    wordsOf(text)
      .filter((word) => !isStopWord(word))
      .map(stem),
  );
}

/** Room for the frame sentence within an episode's 600 characters. */
const mostCharacters = 540;

/**
 * The structured output `episode_summary`, by rule: the first sentence of each thing the user said, as many as an
 * episode holds. A stand-in: it cannot tell what mattered.
 */
export function compressTurns(prompt: string): Record<string, unknown> {
  const said = subjectsSaid(prompt, { earlier: "episode_so_far", mostCharacters });
  return {
    reasoning: "Made by rule, without a model: the first sentence of each user message.",
    summary: `The user said: ${said.join("; ").slice(0, mostCharacters)}.`,
  };
}

/** What a user likes or not, as `fact_extraction` puts it. */
const taste = /^The user (?:likes|dislikes|prefers|hates|loves)\b|^The user's favou?rite\b/i;

/**
 * The structured output `user_insights`, by rule: a user of whom two facts tell what they like is one who tells it. A
 * stand-in: it understands nobody.
 */
export function findInsights(prompt: string): Record<string, unknown> {
  const telling = promptBlocks(prompt, "memory").filter(
    ({ attributes, text }) => attributes.kind === "fact" && taste.test(text),
  );
  if (telling.length < 2) return { insights: [] };
  const evidence = telling.map(({ attributes }) => Number(attributes.number));
  const summary = "The user is open about likes and dislikes.";
  return { insights: [{ summary, tags: ["openness"], importance: 2, evidence }] };
}

/**
 * The structured output `procedure_steps`, by rule: the numbered lines of what the assistant said, or else the first
 * sentence of each thing the user asked for. A stand-in: it cannot tell which of them led to the result.
 */
export function procedureSteps(prompt: string): Record<string, unknown> {
  const [goal] = promptBlocks(prompt, "goal");
  const messages = promptBlocks(prompt, "message");
  const said = (role: string) => messages.filter(({ attributes }) => attributes.role === role);
  const numbered = said("assistant").flatMap(({ text }) =>
    [...text.matchAll(/^\s*\d{1,2}[.)]\s+(.+)$/gm)].map(([, step = ""]) => step.trim()),
  );
  const asked = said("user")
    .map(({ text }) => sentencesOf(text).find((sentence) => !/[?？]$/.test(sentence)) ?? "")
    .filter((sentence) => sentence !== "");
  const earlier = promptBlocks(prompt, "step").map(({ text }) => text);
  return {
    reasoning: "Made by rule, without a model: numbered lines, or what was asked for.",
    title: goal?.text ?? firstSentence(asked[0] ?? "", 60).replace(/[.!]$/, ""),
    steps: [...earlier, ...(numbered.length > 0 ? numbered : asked)],
  };
}
