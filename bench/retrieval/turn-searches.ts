import type { Scope } from "../../src/index.js";
import { createBm25 } from "./bm25.js";
import type { Line } from "./measure.js";
import type { RetrievalContext, Search } from "./retrieval-context.js";
import { type RetrievalConversation, utc } from "./retrieval-data.js";

/** What searches a user's turns, and what records those of a session. */
export function openTurns(
  { memory, database }: RetrievalContext,
  { turns, topK = 10, ranksSessions }: RetrievalConversation,
  scope: Scope,
) {
  const texts = createBm25(database, `${scope.tenantId} ${scope.userId} turns`);
  const namedTexts = createBm25(database, `${scope.tenantId} ${scope.userId} names`);
  const isPerson = (speaker: string) => speaker !== "user" && speaker !== "assistant";
  /** A session ranks where its best turn does. */
  const firstOfEach = (lines: readonly Line[]) =>
    lines.filter(({ ids: [id] }, place) => lines.findIndex(({ ids }) => ids[0] === id) === place);
  const search =
    (threshold?: number): Search =>
    async ({ question: query }) => {
      const hits = await memory.transcript.search({ scope, query, topK, threshold });
      return firstOfEach(
        hits.map(({ text, threadId, messageId }) => {
          return { text, ids: [ranksSessions ? threadId : messageId] };
        }),
      );
    };
  const plain: Search = async ({ question }) => firstOfEach(await texts.search(question, topK));
  const named: Search = async ({ question }) => namedTexts.search(question, topK);
  const searches: Record<string, Search> = {
    "transcript.search": search(),
    "transcript.search, threshold 0": search(0),
    "turns, BM25": plain,
    ...(turns.every(({ speaker }) => isPerson(speaker)) && { "turns, BM25 with names": named }),
  };
  return {
    searches: turns.length > 0 ? searches : {},
    /** Throws unless all are new. */
    async record(session: string): Promise<void> {
      const said = turns.filter((turn) => turn.session === session);
      const messages = said.map(({ id, speaker, text }) => ({
        id,
        role: speaker === "assistant" ? speaker : "user",
        content: text,
        ...(isPerson(speaker) && { name: speaker }),
      }));
      const saidAt = utc(said[0]?.date ?? "");
      const { recorded } = await memory.record({ scope, threadId: session, messages, saidAt });
      if (recorded !== said.length)
        throw new Error(`${recorded} of ${said.length} turns were recorded in ${session}.`);
      const idOf = (id: string) => (ranksSessions ? session : id);
      await texts.add(said.map(({ id, text }) => ({ text, ids: [idOf(id)] })));
      await namedTexts.add(
        said.map(({ id, speaker, text }) => ({ text: `${speaker}: ${text}`, ids: [idOf(id)] })),
      );
    },
  };
}
