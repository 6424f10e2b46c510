import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Question, type RetrievalConversation, total } from "./retrieval-data.js";

/** By id. Only the Chinese ones have a user. */
type Memories = Readonly<Record<string, { time: string; event: string; "user-id"?: number }>>;

interface Dialogue {
  dialogue: string[];
  /** Where the assistant recalls memories. */
  "test-turn": number[];
  "relevant-id": number[];
  "user-id": number;
}

/** The users are two children. */
const userIds = [1, 2];

/**
 * MADial-Bench: which memories should an assistant recall now? Each dialogue is asked with the
 * user's last words, and whole.
 */
export function readMadial(folder: string): RetrievalConversation[] {
  const memoriesOf = (language: string): Memories =>
    Object.assign({}, ...linesOf(join(folder, `MADial-Bench-${language}-memory.json`)));
  const owners = memoriesOf("zh");
  return ["en", "zh"].flatMap((language) => {
    const memories = Object.entries(memoriesOf(language));
    const dialogues = linesOf(join(folder, `MADial-Bench-${language}-dialogue.json`)) as Dialogue[];
    return userIds.map((user) => {
      const own = memories.filter(([id]) => owners[id]?.["user-id"] === user);
      return {
        id: `${language}-${user}`,
        turns: [],
        observations: own.map(([id, { event, time }]) => ({
          text: event,
          date: `${time}T09:00`,
          evidence: [id],
        })),
        questions: dialogues
          .filter((dialogue) => dialogue["user-id"] === user)
          .flatMap((dialogue) => questionsOf(dialogue, language)),
      };
    });
  });
}

/** One object a line. */
const linesOf = (file: string): unknown[] =>
  [...readFileSync(file, "utf8").matchAll(/.+/g)].map(([line]) => JSON.parse(line));

function questionsOf(dialogue: Dialogue, language: string): Question[] {
  const evidence = dialogue["relevant-id"].map(String);
  const said = dialogue.dialogue.slice(0, dialogue["test-turn"][0]).flatMap((line) => {
    // The dialogue begins with "<BOD>"; some lines of the assistant lack a speaker.
    const [, speaker = "Assistant", words = ""] =
      /^\s*(?:<\s*(\w+)\s*>\s*[:：]?)?\s*"?(.*?)"?\s*$/s.exec(line) ?? [];
    return words === "" ? [] : { speaker, words };
  });
  const lastOfUser = said.findLast(({ speaker }) => speaker !== "Assistant");
  if (!lastOfUser) return [];
  return [
    {
      question: lastOfUser.words,
      types: [total, `${language}, last words`],
      evidence,
    },
    {
      question: said.map(({ words }) => words).join("\n"),
      types: [total, `${language}, whole dialogue`],
      evidence,
    },
  ];
}
