import { MemoryError } from "../../errors.js";
import type { MemoryItem } from "../../memories/item/memory.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";
import { normalValue } from "../../text/normal-value.js";
import { clipped, onOneLine } from "../../text/storable-text.js";

/** Who changes memories, and whose. */
export interface ManagedBy {
  readonly memory: Memory;
  readonly scope: Scope;
  readonly agent: string | undefined;
  /** Which the agent may read. */
  readonly categories: ReadonlySet<string>;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Candidates named to a model that has to choose one. */
const mostCandidates = 8;
/** Characters shown of each. */
const mostCharacters = 160;

/**
 * The one active memory that `named` means: by its id, or by words that fit no other. Only what the agent may read, and what is
 * the user's own where the run has a user.
 *
 * @throws MemoryError `NOT_FOUND` that lists what may be meant.
 */
export async function findManaged(by: ManagedBy, named: string): Promise<MemoryItem> {
  const { memory, scope, agent } = by;
  const isManaged = (item: MemoryItem) =>
    item.state === "active" &&
    by.categories.has(item.category) &&
    (scope.userId === undefined || item.scope.userId === scope.userId);
  const words = named.trim().replace(/^\(|\)$/g, "");
  if (uuid.test(words)) {
    const found = await memory.memories.get(words, { scope });
    if (found && isManaged(found)) return found;
    throw notFound(`There is no memory ${words} that you can change.`, await latest(by, isManaged));
  }
  const hits = await memory.query({ scope, query: words, topK: mostCandidates, ...(agent && { agent }) });
  const fitting = hits.map((hit) => hit.memory).filter(isManaged);
  const wanted = normalValue(words);
  const same = fitting.filter(({ text, key }) =>
    [text, key ?? ""].some((part) => normalValue(part) === wanted),
  );
  const [only, ...others] = same.length > 0 ? same : fitting;
  if (only && others.length === 0) return only;
  if (only) throw notFound(`Several memories fit "${words}".`, [only, ...others]);
  throw notFound(`No memory fits "${words}".`, await latest(by, isManaged));
}

async function latest(
  { memory, scope, categories }: ManagedBy,
  isManaged: (item: MemoryItem) => boolean,
): Promise<MemoryItem[]> {
  const listed = await memory.memories.list({ scope, categories: [...categories], limit: 100 });
  return listed.filter(isManaged).slice(0, mostCandidates);
}

function notFound(problem: string, candidates: readonly MemoryItem[]): MemoryError {
  const lines = candidates.map(({ id, text }) => `${id}: ${clipped(onOneLine(text), mostCharacters)}`);
  const list =
    lines.length > 0 ? `Name one by its id, or ask the user which is meant:\n${lines.join("\n")}` : "";
  return new MemoryError("NOT_FOUND", `${problem} ${list}`.trim());
}
