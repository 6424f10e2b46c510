import { promptBlocks, subjectsSaid, wordsOf } from "./read-prompt.js";

/** A note holds 200 characters; so much is the frame sentence. */
const mostCharacters = 180;

/** What is said at the beginning and the end of every conversation. */
const courtesy = /^(?:hi|hello|hey|thanks|thank you|bye|goodbye|ok|okay)[\s!.,]*$/i;

/**
 * The structured output `app_note`, by rule: the first sentences of what the user said, as many as a note holds, questions
 * and courtesies excepted. A stand-in: it cannot tell what mattered.
 */
export function noteConversation(prompt: string): Record<string, unknown> {
  const told = (sentence: string) => sentence !== "" && !/[?？]$/.test(sentence) && !courtesy.test(sentence);
  const said = subjectsSaid(prompt, { earlier: "note_so_far", mostCharacters, told });
  const reasoning = "Made by rule, without a model: the first sentence of each thing the user told.";
  if (said.length === 0) return { reasoning, note: "", importance: 1, tags: [] };
  return { reasoning, note: `The user said: ${said.join("; ")}.`, importance: 3, tags: [] };
}

/**
 * The structured output `note_compaction`, by rule: of two notes with the same words the earlier goes, else the first of
 * the least important. A stand-in: it merges nothing.
 */
export function compactNotes(prompt: string): Record<string, unknown> {
  const notes = promptBlocks(prompt, "note")
    .filter(({ attributes }) => attributes.pinned === undefined)
    .map(({ attributes, text }) => ({
      number: Number(attributes.number),
      importance: Number(attributes.importance),
      words: [...new Set(wordsOf(text))].sort().join(" "),
    }));
  const double = notes.find(({ words }, index) =>
    notes.slice(index + 1).some((other) => other.words === words),
  );
  const least = [...notes].sort((one, other) => one.importance - other.importance)[0];
  const decision = double
    ? { target: double.number, reason: "A later note says the same." }
    : { target: least?.number ?? 1, reason: "It is the oldest of those that matter least." };
  const reasoning = "Made by rule, without a model: doubles first, then what matters least.";
  return { reasoning, action: "delete", with: null, text: null, ...decision };
}
