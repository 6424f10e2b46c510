import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Question, RetrievalConversation } from "./retrieval-data.js";

const memoriesSchema = z.record(
  z.string(),
  z.object({ time: z.string(), event: z.string(), "user-id": z.int().optional() }),
);

const dialogueSchema = z.object({
  dialogue: z.array(z.string()),
  /** Where the assistant recalls a memory. */
  "test-turn": z.tuple([z.int()], z.int()),
  "relevant-id": z.array(z.int()),
  "user-id": z.int(),
});

const users = { 1: "Bart", 2: "Lisa" };

/**
 * MADial-Bench: which memories should an assistant recall now? Each dialogue is asked with the
 * user's last words, with all of the user's words, and whole.
 *
 * @param files memories and dialogues of a language, and the Chinese memories, which alone say
 * whose they are
 */
export function readMadial(files: {
  readonly memories: string;
  readonly dialogues: string;
  readonly owners: string;
}): RetrievalConversation[] {
  const memories = readMemories(files.memories);
  const owners = readMemories(files.owners);
  const dialogues = linesOf(files.dialogues).map((line) => dialogueSchema.parse(JSON.parse(line)));
  return Object.entries(users).map(([user, name]) => {
    const own = [...memories].filter(([id]) => owners.get(id)?.["user-id"] === Number(user));
    const ids = new Set(own.map(([id]) => id));
    return {
      id: name,
      speakers: ["user", "assistant"],
      turns: [],
      observations: own.map(([id, { event, time }]) => ({
        id,
        date: `${time}T09:00`,
        text: event,
        evidence: [id],
      })),
      questions: dialogues
        .filter((dialogue) => dialogue["user-id"] === Number(user))
        .flatMap((dialogue) => questionsOf(dialogue, ids)),
    };
  });
}

/** One object a line. */
const linesOf = (file: string): string[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");

function readMemories(file: string) {
  return new Map(
    linesOf(file).flatMap((line) => Object.entries(memoriesSchema.parse(JSON.parse(line)))),
  );
}

function questionsOf(
  dialogue: z.output<typeof dialogueSchema>,
  ids: ReadonlySet<string>,
): Question[] {
  const evidence = dialogue["relevant-id"].map(String).filter((id) => ids.has(id));
  const said = dialogue.dialogue.slice(0, dialogue["test-turn"][0]).flatMap((line) => {
    // The dialogue begins with "<BOD>"; some lines of the assistant lack a speaker.
    const [, speaker = "Assistant", words = ""] =
      /^\s*(?:<\s*(\w+)\s*>\s*[:：]?)?\s*"?(.*?)"?\s*$/s.exec(line) ?? [];
    return words === "" ? [] : { speaker, words };
  });
  const all = said.map(({ words }) => words);
  const byUser = said.flatMap(({ speaker, words }) => (speaker === "Assistant" ? [] : words));
  if (evidence.length === 0 || all.length === 0) return [];
  const asked = {
    "last words": byUser.at(-1) ?? all.at(-1) ?? "",
    "user's words": byUser.length > 0 ? byUser.join("\n") : all.join("\n"),
    "whole dialogue": all.join("\n"),
  };
  return Object.entries(asked).map(([type, question]) => ({
    question,
    type,
    isTotalled: true,
    evidence,
  }));
}
