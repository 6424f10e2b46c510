import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory, MemoryDraft, Scope, WriteOutcome } from "../../src/index.js";
import type { RetrievalConversation, Turn } from "./retrieval-data.js";

/** Memory id → ids of what the memory stands for. */
export type Cited = ReadonlyMap<string, readonly string[]>;

/** How many memories came to which outcome. */
export type OutcomeCounts = Record<string, number>;

export const textOf = ({ text, caption }: Turn): string =>
  caption === undefined ? text : `${text} [shares ${caption}]`;

export const isPerson = (speaker: string): boolean => speaker !== "user" && speaker !== "assistant";

/** Records a conversation, a thread for each session, and adds its observations as facts. */
export async function loadConversation(
  memory: Memory,
  conversation: RetrievalConversation,
  scope: Scope,
  counts: OutcomeCounts,
): Promise<Cited> {
  const places = await loadTurns(memory, conversation, scope);
  const { observations } = conversation;
  const drafts = observations.map(({ text, speaker, date, evidence }): MemoryDraft => {
    const cited = evidence.flatMap((id) => places.get(id) ?? []);
    const threadId = cited[0]?.threadId;
    const seqs = cited.filter((place) => place.threadId === threadId).map(({ seq }) => seq);
    const source = threadId === undefined ? undefined : { threadId, seqs };
    return { text, actorId: speaker, validFrom: dateOf(date), source };
  });
  const outcomes = await addDrafts(memory, drafts, scope, counts);
  const cited = new Map<string, readonly string[]>();
  for (const [index, outcome] of outcomes.entries()) {
    for (const { id } of [outcome, ...(outcome.further ?? [])]) {
      // Two texts may become one memory, which then stands for the evidence of both.
      const evidence = observations[index]?.evidence ?? [];
      if (id !== null) cited.set(id, [...(cited.get(id) ?? []), ...evidence]);
    }
  }
  return cited;
}

/** Turn id → where it was recorded. */
type TurnPlaces = ReadonlyMap<string, { readonly threadId: string; readonly seq: number }>;

async function loadTurns(
  memory: Memory,
  { id, turns }: RetrievalConversation,
  scope: Scope,
): Promise<TurnPlaces> {
  const places = new Map<string, { threadId: string; seq: number }>();
  for (const session of new Set(turns.map((turn) => turn.session))) {
    const threadId = `${id}/${session}`;
    const said = turns.filter((turn) => turn.session === session);
    for (const [seq, turn] of said.entries()) places.set(turn.id, { threadId, seq });
    await recordTurns(memory, said, { scope, threadId });
  }
  return places;
}

/** Records `turns` as one thread, and throws unless all are new. */
export async function recordTurns(
  memory: Memory,
  turns: readonly Turn[],
  thread: { readonly scope: Scope; readonly threadId: string },
): Promise<void> {
  const messages = turns.map((turn) => {
    const { id, speaker } = turn;
    const content = textOf(turn);
    if (speaker === "assistant") return new AIMessage({ content, id });
    return new HumanMessage({ content, id, ...(isPerson(speaker) && { name: speaker }) });
  });
  const saidAt = turns[0] && dateOf(turns[0].date);
  const { recorded } = await memory.record({ ...thread, messages, saidAt });
  if (recorded !== turns.length)
    throw new Error(`${recorded} of ${turns.length} turns were recorded in ${thread.threadId}.`);
}

const draftsEach = 200;

/** Adds memories and counts their outcomes. */
export async function addDrafts(
  memory: Memory,
  drafts: readonly MemoryDraft[],
  scope: Scope,
  counts: OutcomeCounts,
): Promise<WriteOutcome[]> {
  const outcomes: WriteOutcome[] = [];
  for (let start = 0; start < drafts.length; start += draftsEach) {
    const some = drafts.slice(start, start + draftsEach);
    outcomes.push(...(await memory.memories.add(some, { scope })));
  }
  for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return outcomes;
}

/** Prints what became of the memories, and throws if more than one in fifty is not found. */
export function checkOutcomes(name: string, counts: OutcomeCounts): void {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const { rejected = 0, quarantined = 0, proposed = 0, refused = 0 } = counts;
  const hidden = rejected + quarantined + proposed + refused;
  if (all > 0) console.log(`${name}: memories ${JSON.stringify(counts)}`);
  if (hidden > all / 50) throw new Error(`${hidden} of ${all} memories were not stored.`);
}

function dateOf(date: string): Date {
  return new Date(`${date}:00Z`);
}
