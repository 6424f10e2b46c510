import { basename } from "node:path";
import { dateOf, type RetrievalConversation, readJson } from "./retrieval-data.js";

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

/** RealMem: which earlier sessions hold what a user's message needs? A file for each user. */
export function readRealMem(files: readonly string[]): RetrievalConversation[] {
  return files.map((file) => {
    const { dialogues } = readJson(file) as RealMemFile;
    const name = basename(file).replace(/_dialogues.*/, "");
    const sessions = dialogues.map(({ session_uuid: threadId, ...session }, index) => {
      const earlier = new Set(dialogues.slice(0, index).map((dialogue) => dialogue.session_uuid));
      const said = session.dialogue_turns;
      return {
        turns: said.map(({ speaker, content }, seq) => ({
          id: `${threadId}-${seq}`,
          threadId,
          saidAt: dateOf(`${session.current_time.slice(0, 10)}T09:00`),
          speaker: speaker.toLowerCase(),
          text: content,
        })),
        questions: said.flatMap((turn, seq) => {
          const gold = turn.memory_session_uuids ?? said[seq + 1]?.memory_session_uuids ?? [];
          const evidence = [...new Set(gold)].filter((id) => earlier.has(id));
          if (!turn.is_query || evidence.length === 0) return [];
          return { text: turn.content, type: name, evidence, before: threadId };
        }),
      };
    });
    return {
      id: name,
      turns: sessions.flatMap(({ turns }) => turns),
      observations: [],
      questions: sessions.flatMap(({ questions }) => questions),
      ranksThreads: true,
    };
  });
}
