import { MemoryError } from "../../errors.js";
import type { MemoryItem } from "../../memories/item/memory.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";
import { normalValue } from "../../text/normal-value.js";
import { isUnspaced, plainWords } from "../../text/plain-words.js";
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
  const [only, ...others] = same.length > 0 ? same : fitting.filter((item) => holdsWords(item, words));
  if (only && others.length === 0) return only;
  if (only) throw notFound(`Several memories fit "${words}".`, [only, ...others]);
  if (fitting.length > 0) throw notFound(`No memory has all of "${words}".`, fitting);
  throw notFound(`No memory fits "${words}".`, await latest(by, isManaged));
}

/** Whether `item` has all that `named` tells: what only resembles it is another memory. */
function holdsWords({ text, key, value }: MemoryItem, named: string): boolean {
  const plain = plainWords(`${text} ${key?.replaceAll("_", " ") ?? ""} ${value ?? ""}`);
  const held = wordsOf(plain);
  // "The user's sister works at Acme" is nothing that the user does.
  if (/^(?:(?:the )?user(?!')|i )/u.test(plainWords(named).trim()) && /^(?:the )?user's/u.test(plain.trim()))
    return false;
  return wordsOf(plainWords(named))
    .filter((word) => !framing.has(word))
    .every((word) => (isUnspaced(word) ? plain.includes(word) : held.some((other) => isForm(word, other))));
}

const wordsOf = (plain: string) =>
  plain.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word.length > 1 || /[\p{N}\p{sc=Han}]/u.test(word));

/** Words that say whose memory it is, or that it is one. */
const framing: ReadonlySet<string> = new Set(
  `the an user users is are am was were be been has have had that this my me his her their its of to in on at and for with
  about called named memory fact note entry der die das den dem nutzer benutzer ist hat dass mein meine und le la les un une
  utilisateur est que mon ma et el los una usuario es mi y utente gebruiker пользователь`.split(/\s+/),
);

/** Whether words are forms of one: inflection changes their endings. */
function isForm(one: string, other: string): boolean {
  const least = Math.min(one.length, other.length);
  if (least < 4) return one === other;
  const stem = Math.max(4, Math.ceil(Math.max(one.length, other.length) * 0.7));
  return least >= stem ? one.slice(0, stem) === other.slice(0, stem) : one === other;
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
