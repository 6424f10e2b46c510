import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type RetrievalConversation, readJson, total } from "./retrieval-data.js";

interface RealMemFile {
  dialogues: {
    session_uuid: string;
    current_time: string;
    dialogue_turns: {
      speaker: string;
      content: string;
      is_query: boolean;
      /** Of a question or its answer. */
      memory_session_uuids?: string[] | null;
    }[];
  }[];
}

/** RealMem: which earlier sessions hold what a user's message needs? A file for each user. */
export function readRealMem(folder: string): RetrievalConversation[] {
  const files = readdirSync(folder).filter((name) => name.endsWith("_dialogues_256k.json"));
  return files.toSorted().map((file) => {
    const { dialogues } = readJson(join(folder, file)) as RealMemFile;
    const id = file.replace("_dialogues_256k.json", "");
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
        const evidence = gold.filter((session) => earlier.has(session));
        return is_query && evidence.length > 0
          ? { question, types: [total, id], evidence, before }
          : [];
      });
    });
    // The sessions of the best fifty messages are ranked.
    return { id, turns, observations: [], questions, topK: 50, ranksSessions: true };
  });
}
