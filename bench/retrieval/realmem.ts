import { basename } from "node:path";
import { z } from "zod";
import { printTable } from "../report.js";
import { type Bm25, countWords, createBm25 } from "./bm25.js";
import { recordTurns } from "./load-conversations.js";
import { type Answer, type Measures, measure, recallColumns } from "./measures.js";
import type { RetrievalContext } from "./retrieval-context.js";
import { readJson, type Turn } from "./retrieval-data.js";

const fileSchema = z.object({
  dialogues: z.array(
    z.object({
      session_uuid: z.string(),
      current_time: z.string(),
      dialogue_turns: z.array(
        z.object({
          speaker: z.enum(["User", "Assistant"]),
          content: z.string(),
          is_query: z.boolean(),
          memory_session_uuids: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

interface Session {
  readonly id: string;
  readonly turns: readonly Turn[];
  /** What the user asks in it, with the earlier sessions that an answer needs. */
  readonly questions: readonly { readonly text: string; readonly evidence: readonly string[] }[];
}

const searches = {
  transcript: "transcript.search, defaults",
  transcript0: "transcript.search, threshold 0",
  bm25: "turns, BM25",
} as const;

/** Messages whose threads are ranked. */
const mostMessages = 50;

/**
 * RealMem: which earlier sessions hold what a user's message needs? Each is asked before its own
 * session is recorded. Prints tables, and returns figures for programs.
 */
export async function measureRealMem(
  context: RetrievalContext,
  files: readonly string[],
): Promise<object> {
  const users = files.map((file) => ({
    name: basename(file).replace(/_dialogues.*/, ""),
    sessions: readSessions(file),
  }));
  const answered: Record<keyof typeof searches, Answer[]>[] = [];
  for (const { name, sessions } of users) answered.push(await askUser(context, name, sessions));
  const names = ["transcript", "transcript0", "bm25"] as const;
  const totals = Object.fromEntries(
    names.map((search) => [search, measure(answered.flatMap((answers) => answers[search]))]),
  ) as Record<keyof typeof searches, Measures>;
  printTable(
    "RealMem: recall of sessions in percent",
    names.map((search) => ({ searched: searches[search], ...recallColumns(totals[search]) })),
  );
  printTable(
    "RealMem: R@5 and R@10 by user",
    users.map(({ name }, index) => ({
      user: name,
      questions: answered[index]?.bm25.length ?? 0,
      ...Object.fromEntries(
        names.flatMap((search) => {
          const { r5, r10 } = measure(answered[index]?.[search] ?? []);
          return [
            [`${search} R@5`, r5],
            [`${search} R@10`, r10],
          ];
        }),
      ),
    })),
  );
  return Object.fromEntries(
    names.map((search) => [search, { r5: totals[search].r5, r10: totals[search].r10 }]),
  );
}

function readSessions(file: string): Session[] {
  const { dialogues } = fileSchema.parse(readJson(file));
  const ids = dialogues.map((dialogue) => dialogue.session_uuid);
  return dialogues.map(({ session_uuid: id, current_time: time, dialogue_turns: said }, index) => {
    const earlier = new Set(ids.slice(0, index));
    return {
      id,
      turns: said.map(({ speaker, content }, seq) => ({
        id: `${id}-${seq}`,
        session: index,
        date: `${time.slice(0, 10)}T09:00`,
        speaker: speaker.toLowerCase(),
        text: content,
      })),
      questions: said.flatMap((turn, seq) => {
        const gold = turn.memory_session_uuids ?? said[seq + 1]?.memory_session_uuids ?? [];
        const evidence = [...new Set(gold)].filter((each) => earlier.has(each));
        return turn.is_query && evidence.length > 0 ? { text: turn.content, evidence } : [];
      }),
    };
  });
}

async function askUser(
  { memory, pool }: RetrievalContext,
  name: string,
  sessions: readonly Session[],
): Promise<Record<keyof typeof searches, Answer[]>> {
  const scope = { tenantId: "RealMem", userId: name };
  const answers = { transcript: [], transcript0: [], bm25: [] } as {
    [Search in keyof typeof searches]: Answer[];
  };
  const index: Bm25<string> = createBm25();
  let recorded = 0;
  for (const { id: threadId, turns, questions } of sessions) {
    for (const { text, evidence } of questions) {
      const ranked = async (threshold?: number) => {
        const query = text.slice(0, 10_000);
        const request = { scope, query, topK: mostMessages, threshold };
        return (await memory.transcript.search(request)).map((hit) => hit.threadId);
      };
      answers.transcript.push(answerOf(await ranked(), evidence));
      answers.transcript0.push(answerOf(await ranked(0), evidence));
      const [asked = new Map()] = await countWords(pool, [text]);
      answers.bm25.push(answerOf(index.search(asked, mostMessages), evidence));
    }
    await recordTurns(memory, turns, { scope, threadId });
    recorded += turns.length;
    const words = await countWords(
      pool,
      turns.map(({ text }) => text),
    );
    for (const counts of words) index.add(threadId, counts);
  }
  console.log(`RealMem, ${name}: ${sessions.length} sessions, ${recorded} messages recorded`);
  if (answers.bm25.length === 0) throw new Error(`RealMem asks nothing of ${name}.`);
  return answers;
}

/** Sessions in the order of their best messages. */
const answerOf = (sessions: readonly string[], evidence: readonly string[]): Answer => ({
  hits: [...new Set(sessions)].map((id) => [id]),
  tokens: 0,
  evidence,
});
