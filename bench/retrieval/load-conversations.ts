import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory, Scope, WriteOutcome } from "../../src/index.js";
import type { RetrievalConversation } from "./retrieval-data.js";

/** Turn id → where it was recorded. */
type TurnPlaces = ReadonlyMap<string, { readonly threadId: string; readonly seq: number }>;

/** Memory id → ids of the turns that it stands for. */
export type CitedTurns = ReadonlyMap<string, readonly string[]>;

/** What came of writing memories. */
export interface Written {
  readonly turns: CitedTurns;
  readonly written: readonly WriteOutcome[];
}

/**
 * Records a conversation's turns, a thread for each session: people by their names, and "assistant"
 * as the assistant.
 */
export async function loadTurns(
  memory: Memory,
  conversation: RetrievalConversation,
  scope: Scope,
): Promise<TurnPlaces> {
  const places = new Map<string, { threadId: string; seq: number }>();
  for (const session of new Set(conversation.turns.map((turn) => turn.session))) {
    const turns = conversation.turns.filter((turn) => turn.session === session);
    const threadId = `${conversation.id}/${session}`;
    const messages = turns.map((turn, seq) => {
      places.set(turn.id, { threadId, seq });
      const content =
        turn.caption === undefined ? turn.text : `${turn.text} [shares ${turn.caption}]`;
      const { id, speaker } = turn;
      if (speaker === "assistant") return new AIMessage({ content, id });
      return new HumanMessage({ content, id, ...(speaker !== "user" && { name: speaker }) });
    });
    const { recorded } = await memory.record({
      scope,
      threadId,
      messages,
      saidAt: dateOf(turns[0]?.date),
    });
    if (recorded !== turns.length)
      throw new Error(`${recorded} of ${turns.length} turns were recorded.`);
  }
  return places;
}

/** Adds a conversation's observations as facts with evidence in the turns at `places`. */
export async function loadObservations(
  memory: Memory,
  { observations }: RetrievalConversation,
  scope: Scope,
  places: TurnPlaces,
): Promise<Written> {
  const outcomes = await memory.memories.add(
    observations.map((observation) => {
      const cited = observation.evidence.flatMap((id) => places.get(id) ?? []);
      const threadId = cited[0]?.threadId;
      return {
        text: observation.text,
        actorId: observation.speaker,
        validFrom: dateOf(observation.date),
        ...(threadId !== undefined && {
          source: {
            threadId,
            seqs: cited.filter((place) => place.threadId === threadId).map(({ seq }) => seq),
          },
        }),
      };
    }),
    { scope },
  );
  return citedBy(
    outcomes,
    observations.map(({ evidence }) => evidence),
  );
}

/** Two texts may have become one memory: it then stands for the turns of both. */
function citedBy(written: readonly WriteOutcome[], turns: readonly (readonly string[])[]): Written {
  const cited = new Map<string, string[]>();
  for (const [index, { id }] of written.entries()) {
    if (id !== null) cited.set(id, [...(cited.get(id) ?? []), ...(turns[index] ?? [])]);
  }
  return { turns: cited, written };
}

function dateOf(date: string | undefined): Date | undefined {
  return date === undefined ? undefined : new Date(`${date}:00Z`);
}
