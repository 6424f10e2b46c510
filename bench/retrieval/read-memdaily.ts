import { basename } from "node:path";
import { z } from "zod";
import { type RetrievalConversation, readJson } from "./retrieval-data.js";

const stepIds = z.union([z.array(z.int()), z.int().transform((id) => [id])]);

const fileSchema = z.array(
  z.object({
    tid: z.int(),
    message_list: z.array(z.object({ mid: z.int(), message: z.string(), time: z.string() })),
    question_list: z.array(z.object({ question: z.string(), target_step_id: stepIds })),
  }),
);

/** Trajectories of each kind that are measured. */
const trajectoriesEach = 50;

/** MemDaily: Chinese messages of one user, and questions whose messages are known. */
export function readMemDaily(files: readonly string[]): RetrievalConversation[] {
  return files.flatMap((file) => {
    const kind = basename(file, "_hybrid.json");
    return fileSchema
      .parse(readJson(file))
      .slice(0, trajectoriesEach)
      .map(({ tid, message_list: said, question_list: asked }) => ({
        id: `${kind}-${tid}`,
        speakers: ["user"],
        turns: said.map(({ mid, message, time }) => ({
          id: String(mid),
          session: 1,
          date: dateOf(time),
          speaker: "user",
          text: message,
        })),
        observations: [],
        questions: asked.flatMap(({ question, target_step_id: steps }) => {
          const isThere = (step: number) => said.some(({ mid }) => mid === step);
          if (steps.length === 0 || !steps.every(isThere)) return [];
          return { question, type: kind, isTotalled: true, evidence: steps.map(String) };
        }),
      }));
  });
}

/** "2024年04月01日 周一 08:12" as "2024-04-01T08:12". */
function dateOf(time: string): string {
  const [, year, month, day, clock] = /^(\d+)年(\d+)月(\d+)日 \S+ (\d+:\d+)/.exec(time) ?? [];
  if (clock === undefined) throw new Error(`"${time}" is no time of MemDaily.`);
  return `${year}-${month}-${day}T${clock}`;
}
