import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory, Scope, WriteOutcome } from "../../src/index.js";
import type { LocomoConversation } from "./locomo-data.js";

/** Turn id → where it was recorded. */
type TurnPlaces = ReadonlyMap<string, { readonly threadId: string; readonly seq: number }>;

/** Memory id → ids of the turns that it stands for. */
export type CitedTurns = ReadonlyMap<string, readonly string[]>;

/** What came of writing memories. */
export interface Written {
  readonly turns: CitedTurns;
  readonly written: readonly WriteOutcome[];
}

/** Longest piece of a summary, in characters: an episode holds no more. */
const longestPiece = 600;

/** Records a conversation's turns: a thread for each session, the speakers as user and assistant. */
export async function loadTurns(
  memory: Memory,
  conversation: LocomoConversation,
  scope: Scope,
): Promise<TurnPlaces> {
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
    const { recorded } = await memory.record({ scope, threadId, messages, saidAt: dateOf(turns[0]?.date) });
    if (recorded !== turns.length) throw new Error(`${recorded} of ${turns.length} turns were recorded.`);
  }
  return places;
}

/** Adds a conversation's observations as facts with evidence in the turns at `places`. */
export async function loadObservations(
  memory: Memory,
  { observations }: LocomoConversation,
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

/** Adds a conversation's session summaries as episodes; each stands for all turns of its session. */
export async function loadSummaries(
  memory: Memory,
  { summaries, turns }: LocomoConversation,
  scope: Scope,
): Promise<Written> {
  const pieces = summaries.flatMap(({ session, date, text }) =>
    piecesOf(text).map((piece) => ({ session, date, text: piece })),
  );
  const outcomes = await memory.memories.add(
    pieces.map(({ text, date }) => ({ kind: "episode" as const, text, validFrom: dateOf(date) })),
    { scope },
  );
  return citedBy(
    outcomes,
    pieces.map(({ session }) => turns.filter((turn) => turn.session === session).map(({ id }) => id)),
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

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (const sentence of text.match(/[^.!?]+[.!?]*\s*/g) ?? [text]) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + sentence.length <= longestPiece)
      pieces.splice(-1, 1, last + sentence);
    else pieces.push(sentence);
  }
  return pieces;
}

function dateOf(date: string | undefined): Date | undefined {
  return date === undefined ? undefined : new Date(`${date}:00Z`);
}
