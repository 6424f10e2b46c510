import type { Memory, Scope } from "../../src/index.js";
import { seeded } from "../data/sentences.js";
import type { CitedTurns } from "./load-locomo.js";
import type { LocomoConversation } from "./locomo-data.js";

/** Searches a conversation; per hit, best first, the ids of the turns that it stands for. */
export type Search = (conversation: LocomoConversation, question: string) => Promise<(readonly string[])[]>;

/** What is loaded, each for users of its own: what one has learned helps no other. */
export type Load = "turns" | "facts" | "vectors" | "summaries";

/** Which turns the memories of each load stand for. */
export type CitedByLoad = Readonly<Record<Exclude<Load, "turns">, CitedTurns>>;

/** Whose a conversation is in a load. */
export function scopeOf(load: Load, conversation: LocomoConversation): Scope {
  return { tenantId: load, userId: conversation.id };
}

/** As many hits as the longest recall looks at; all there are: recall at 50 is what the ranking gives, not what the default floor leaves. */
const everything = { topK: 50, threshold: 0 };

/** The same of what a recall shows. */
export const showEverything = {
  ...{ topK: everything.topK, threshold: everything.threshold },
  ...{ budgetTokens: 1_000_000, fill: false, timeoutMs: 60_000 },
};

/** The memories that are asked. */
export interface AskedMemories {
  /** Without embeddings. */
  readonly lexical: Memory;
  readonly hybrid: Memory;
  /** Its recall shows everything. */
  readonly showing: Memory;
}

/** Each way to search that is compared, by its name in the line of JSON, with what the tables call it. */
export function searchesOf(
  { lexical, hybrid, showing }: AskedMemories,
  cited: CitedByLoad,
): Readonly<Record<string, readonly [what: string, search: Search]>> {
  const messages =
    (from: Load): Search =>
    async (conversation, query) => {
      const scope = scopeOf(from, conversation);
      const hits = await lexical.transcript.search({ scope, query, ...everything });
      return hits.map(({ messageId }) => [messageId]);
    };
  const memories =
    (memory: Memory, from: Exclude<Load, "turns">): Search =>
    async (conversation, query) => {
      const hits = await memory.query({ scope: scopeOf(from, conversation), query, ...everything });
      return hits.map((hit) => cited[from].get(hit.memory.id) ?? []);
    };
  const recalled: Search = async (conversation, query) => {
    const scope = scopeOf("vectors", conversation);
    const { memories } = await showing.recall({ scope, threadId: "a new thread", query });
    return memories.relevant.map((hit) => cited.vectors.get(hit.memory.id) ?? []);
  };
  const misspelt =
    (search: Search): Search =>
    (conversation, query) =>
      search(conversation, misspell(query));
  return {
    turns: ["turns", messages("turns")],
    turnsWithFacts: ["turns, helped by observations", messages("facts")],
    observations: ["observations", memories(lexical, "facts")],
    observationsHashing: ["observations, with hashing vectors", memories(hybrid, "vectors")],
    recall: ["observations, as a recall finds them", recalled],
    summaries: ["summaries (hits stand for whole sessions)", memories(lexical, "summaries")],
    typos: ["turns, every word of 5 letters misspelt", misspelt(messages("turns"))],
    typosObservations: ["observations, misspelt", misspelt(memories(lexical, "facts"))],
    typosHashing: ["observations, misspelt, with hashing vectors", misspelt(memories(hybrid, "vectors"))],
  };
}

/** Shortest word that is misspelt. */
const shortest = 5;

/**
 * `text` with every word of at least five letters misspelt: two letters swapped, one dropped, or one doubled,
 * never the first. The same for the same text.
 */
function misspell(text: string): string {
  const random = seeded(
    [...text].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) | 0, 7),
  );
  return text.replace(new RegExp(`\\p{L}{${shortest},}`, "gu"), (word) => {
    const at = 1 + Math.floor(random() * (word.length - 2));
    const [before, letter, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)];
    const edits = [
      `${before}${after.charAt(0)}${letter}${after.slice(1)}`,
      before + after,
      before + letter + letter + after,
    ];
    const edited = edits[Math.floor(random() * edits.length)] as string;
    // Two equal letters swapped are no mistake.
    return edited === word ? before + after : edited;
  });
}
