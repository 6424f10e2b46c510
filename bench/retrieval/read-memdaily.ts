import { basename } from "node:path";
import { dateOf, type RetrievalConversation, readJson } from "./retrieval-data.js";

type MemDailyFile = readonly {
  readonly tid: number;
  /** `time` is as "2024年04月01日 周一 08:12". */
  readonly message_list: readonly {
    readonly mid: number;
    readonly message: string;
    readonly time: string;
  }[];
  readonly question_list: readonly {
    readonly question: string;
    readonly target_step_id: number | readonly number[];
  }[];
}[];

/** Trajectories of each kind that are measured. */
const trajectoriesEach = 50;

/** MemDaily: Chinese messages of one user, and questions whose messages are known. */
export function readMemDaily(files: readonly string[]): RetrievalConversation[] {
  return files.flatMap((file) => {
    const kind = basename(file, "_hybrid.json");
    const trajectories = (readJson(file) as MemDailyFile).slice(0, trajectoriesEach);
    return trajectories.map(({ tid, message_list: said, question_list: asked }) => ({
      id: `${kind}-${tid}`,
      turns: said.map(({ mid, message, time }) => ({
        id: String(mid),
        threadId: `${kind}-${tid}`,
        saidAt: dateOf(time.replace(/^(\d+)年(\d+)月(\d+)日 \S+ (\d+:\d+).*/, "$1-$2-$3T$4")),
        speaker: "user",
        text: message,
      })),
      observations: [],
      questions: asked.flatMap(({ question, target_step_id: steps }) => {
        const evidence = [steps].flat();
        const isKnown = evidence.every((step) => said.some(({ mid }) => mid === step));
        if (!isKnown || evidence.length === 0) return [];
        return { text: question, type: kind, evidence: evidence.map(String) };
      }),
    }));
  });
}
