import { basename } from "node:path";
import { type RetrievalConversation, readJson } from "./retrieval-data.js";

interface RealMemFile {
  readonly dialogues: readonly {
    readonly session_uuid: string;
    readonly current_time: string;
    readonly dialogue_turns: readonly {
      readonly speaker: "User" | "Assistant";
      readonly content: string;
      readonly is_query: boolean;
      /** Of a question or its answer. */
      readonly memory_session_uuids?: readonly string[] | null;
    }[];
  }[];
}

/** Messages whose sessions are ranked. */
const topK = 50;

/** RealMem: which earlier sessions hold what a user's message needs? A file for each user. */
export function readRealMem(files: readonly string[]): RetrievalConversation[] {
  return files.map((file) => {
    const { dialogues } = readJson(file) as RealMemFile;
    const id = basename(file).replace(/_dialogues.*/, "");
    const turns = dialogues.flatMap(
      ({ session_uuid: session, current_time, dialogue_turns: said }) =>
        said.map(({ speaker, content: text }, seq) => ({
          id: `${session}-${seq}`,
          session,
          date: `${current_time.slice(0, 10)}T09:00`,
          speaker: speaker.toLowerCase(),
          text,
        })),
    );
    const questions = dialogues.flatMap(({ session_uuid: before, dialogue_turns: said }, index) => {
      const earlier = new Set(dialogues.slice(0, index).map((dialogue) => dialogue.session_uuid));
      return said.flatMap(({ is_query, content: question, memory_session_uuids }, seq) => {
        const gold = memory_session_uuids ?? said[seq + 1]?.memory_session_uuids ?? [];
        const evidence = [...new Set(gold)].filter((session) => earlier.has(session));
        return is_query && evidence.length > 0 ? { question, type: id, evidence, before } : [];
      });
    });
    return { id, turns, observations: [], questions, topK, ranksSessions: true };
  });
}
