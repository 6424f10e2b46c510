import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory } from "../../src/index.js";
import type { LocomoConversation } from "./locomo-data.js";

/** Turn id → where it was recorded. */
export type TurnPlaces = ReadonlyMap<string, { readonly threadId: string; readonly seq: number }>;

/** Whose memories a conversation is loaded as. */
export const scopeOf = (conversation: LocomoConversation) => ({ userId: conversation.id });

/** Records a conversation's turns: a thread for each session, the speakers as user and assistant. */
export async function loadTurns(memory: Memory, conversation: LocomoConversation): Promise<TurnPlaces> {
  const places = new Map<string, { threadId: string; seq: number }>();
  for (const session of new Set(conversation.turns.map((turn) => turn.session))) {
    const turns = conversation.turns.filter((turn) => turn.session === session);
    const threadId = `${conversation.id}/${session}`;
    const messages = turns.map((turn, seq) => {
      places.set(turn.id, { threadId, seq });
      const content = turn.caption === undefined ? turn.text : `${turn.text} [shares ${turn.caption}]`;
      const fields = { content, id: turn.id, name: turn.speaker };
      return turn.speaker === conversation.speakers[0] ? new HumanMessage(fields) : new AIMessage(fields);
    });
    await memory.record({ scope: scopeOf(conversation), threadId, messages, saidAt: dateOf(turns[0]?.date) });
  }
  return places;
}

/** Adds a conversation's observations as facts with evidence. Returns memory id → ids of the turns it cites. */
export async function loadObservations(
  memory: Memory,
  conversation: LocomoConversation,
  places: TurnPlaces,
): Promise<Map<string, string[]>> {
  const { observations } = conversation;
  const outcomes = await memory.memories.add(
    observations.map((observation) => {
      const cited = observation.evidence.flatMap((id) => places.get(id) ?? []);
      const threadId = cited[0]?.threadId;
      return {
        text: observation.text,
        actorId: observation.speaker,
        validFrom: dateOf(observation.date),
        ...(threadId !== undefined && {
          source: { threadId, seqs: cited.filter((place) => place.threadId === threadId).map(({ seq }) => seq) },
        }),
      };
    }),
    { scope: scopeOf(conversation) },
  );
  const cites = new Map<string, string[]>();
  for (const [index, { id }] of outcomes.entries()) {
    if (id !== null) cites.set(id, [...(cites.get(id) ?? []), ...(observations[index]?.evidence ?? [])]);
  }
  return cites;
}

/** Adds a conversation's session summaries as episodes. */
export async function loadSummaries(memory: Memory, conversation: LocomoConversation): Promise<void> {
  await memory.memories.add(
    conversation.summaries.map((summary) => ({
      kind: "episode" as const,
      text: summary.text,
      validFrom: dateOf(summary.date),
    })),
    { scope: scopeOf(conversation) },
  );
}

function dateOf(date: string | undefined): Date | undefined {
  return date === undefined ? undefined : new Date(`${date}:00Z`);
}
