import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type RetrievalConversation, readJson, total } from "./retrieval-data.js";

type MemDailyFile = {
  tid: number;
  /** `time` is as "2024年04月01日 周一 08:12". */
  message_list: { mid: number; message: string; time: string }[];
  question_list: { question: string; target_step_id: number | number[] }[];
}[];

/** Trajectories of each kind that are measured. */
const trajectoriesEach = 50;

/** MemDaily: Chinese messages of one user, and questions whose messages are known. */
export function readMemDaily(folder: string): RetrievalConversation[] {
  const files = readdirSync(folder).filter((name) => name.endsWith("_hybrid.json"));
  return files.toSorted().flatMap((file) => {
    const type = file.replace("_hybrid.json", "");
    const trajectories = (readJson(join(folder, file)) as MemDailyFile).slice(0, trajectoriesEach);
    return trajectories.map(({ tid, message_list: said, question_list: asked }) => ({
      id: `${type}-${tid}`,
      turns: said.map(({ mid, message: text, time }) => ({
        id: String(mid),
        session: `${type}-${tid}`,
        date: time.replace(/^(\d+)年(\d+)月(\d+)日 \S+ (\d+:\d+).*/, "$1-$2-$3T$4"),
        speaker: "user",
        text,
      })),
      observations: [],
      questions: asked.map(({ question, target_step_id: steps }) => {
        return { question, types: [total, type], evidence: [steps].flat().map(String) };
      }),
    }));
  });
}
