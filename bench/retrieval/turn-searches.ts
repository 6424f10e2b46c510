import type { Scope } from "../../src/index.js";
import { createBm25 } from "./bm25.js";
import type { Line } from "./measure.js";
import type { RetrievalContext, Search } from "./retrieval-context.js";
import { type Question, type RetrievalConversation, type Turn, utc } from "./retrieval-data.js";

/** What searches a user's turns, and what records those of a session. */
export function openTurns(
  { memory, database }: RetrievalContext,
  { turns, topK = 10, ranksSessions }: RetrievalConversation,
  scope: Scope,
) {
  const texts = createBm25(database, `${scope.tenantId} ${scope.userId} turns`);
  const namedTexts = createBm25(database, `${scope.tenantId} ${scope.userId} names`);
  /** A session ranks where its best turn does. */
  const found = (hits: readonly { readonly text: string; readonly id: string }[]): Line[] => {
    const ids = hits.map(({ id }) => id);
    const firsts = hits.filter(({ id }, place) => ids.indexOf(id) === place);
    return firsts.map(({ text, id }) => ({ text, ids: [id] }));
  };
  const search =
    (threshold?: number): Search =>
    async ({ question: query }) => {
      const hits = await memory.transcript.search({ scope, query, topK, threshold });
      return found(
        hits.map(({ text, threadId, messageId }) => {
          return { text, id: ranksSessions ? threadId : messageId };
        }),
      );
    };
  const searches: Record<string, Search> = {
    "transcript.search": search(),
    "transcript.search, threshold 0": search(0),
    "turns, BM25": async ({ question }) => found(await texts.search(question, topK)),
    ...(turns.every(isPersons) && {
      "turns, BM25 with names": async ({ question }: Question) =>
        found(await namedTexts.search(question, topK)),
    }),
  };
  return {
    searches: turns.length > 0 ? searches : {},
    /** Throws unless all are new. */
    async record(session: string): Promise<void> {
      const said = turns.filter((turn) => turn.session === session);
      const messages = said.map(({ id, speaker, ...turn }) => ({
        id,
        role: speaker === "assistant" ? speaker : "user",
        content: textOf(turn),
        ...(isPersons({ speaker }) && { name: speaker }),
      }));
      const saidAt = utc(said[0]?.date ?? "");
      const { recorded } = await memory.record({ scope, threadId: session, messages, saidAt });
      if (recorded !== said.length)
        throw new Error(`${recorded} of ${said.length} turns were recorded in ${session}.`);
      const lines = said.map((turn) => ({
        text: textOf(turn),
        id: ranksSessions ? session : turn.id,
        speaker: turn.speaker,
      }));
      await texts.add(lines);
      await namedTexts.add(
        lines.map(({ text, id, speaker }) => ({ text: `${speaker}: ${text}`, id })),
      );
    },
  };
}

const isPersons = ({ speaker }: Pick<Turn, "speaker">) =>
  speaker !== "user" && speaker !== "assistant";

const textOf = ({ text, caption }: Pick<Turn, "text" | "caption">) =>
  caption === undefined ? text : `${text} [shares ${caption}]`;
