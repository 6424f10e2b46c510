import { readFileSync } from "node:fs";
import { z } from "zod";

const said = {
  id: z.string(),
  session: z.int(),
  date: z.string(),
  speaker: z.string(),
  text: z.string(),
};

const dataSchema = z.object({
  name: z.string(),
  conversations: z.array(
    z.object({
      id: z.string(),
      speakers: z.array(z.string()).length(2),
      turns: z.array(z.object({ ...said, caption: z.string().optional() })),
      observations: z.array(z.object({ ...said, evidence: z.array(z.string()) })),
      summaries: z.array(z.object({ session: z.int(), date: z.string(), text: z.string() })),
      questions: z.array(
        z.object({
          id: z.string(),
          question: z.string(),
          category: z.int(),
          evidence: z.array(z.string()),
        }),
      ),
    }),
  ),
});

/** Conversations with questions whose evidence is known: LoCoMo, REALTALK and BEAM in one form. */
export type RetrievalData = z.output<typeof dataSchema>;
export type RetrievalConversation = RetrievalData["conversations"][number];

/** The data of `file`. */
export function readConversations(file: string): RetrievalData {
  return dataSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}
