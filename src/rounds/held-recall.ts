import { setImmediate } from "node:timers/promises";
import type { MemoryItem } from "../memories/item/memory.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import {
  askedTerms,
  type CountedTexts,
  unknownTerms,
  type WordForms,
} from "../search/held/asked-terms.rule.js";
import {
  type HeldSelection,
  heldCandidates,
  questionNearness,
  visibleIn,
} from "../search/held/held-candidates.js";
import type { HeldMemories } from "../search/held/held-memories.js";
import type { Holding } from "../search/held/holding.js";
import { listKnown, listNotes } from "../search/held/known-memories.js";
import { type MessageSignals, messageSignals } from "../search/held/message-signals.rule.js";
import type { OwnerCopy } from "../search/held/owner-copy.js";
import { ownerKeys } from "../search/held/owner-key.js";
import type { Nearness } from "../search/held/slot-scores.js";
import type { MemoryCandidate } from "../search/memory-hits.js";
import { lookedAt } from "../search/search-limits.rule.js";
import { type AskedTerm, weightedTerms } from "../search/word-weights.rule.js";
import { bringUp } from "./bring-up.js";
import { findPulse, type PulseOwner, type PulseResult } from "./find-pulse.js";
import type { RecallResult } from "./find-recall.js";
import type { PulseStatement } from "./pulse-statement.js";
import type { RecallStatement } from "./recall-statement.js";
import type { ToldNews } from "./told-news.js";

/** A recall, whose question is embedded while the database answers. */
export interface AskedRecall {
  /** Without the question's vector. */
  readonly statement: RecallStatement;
  /** With it. Called once. */
  readonly embedded: () => Promise<RecallStatement>;
}

/**
 * What `findRecall` finds, of owners that this process holds: one small statement brings them up to date, and they are
 * searched here.
 *
 * Null where the statement of recalls has to answer: an owner is not held, or what is held has to be read anew. The
 * memories are those that are held: to be copied before a caller is given them.
 *
 * @throws MemoryError `DATABASE_TIMEOUT` after `timeoutMs`; what `embedded` throws
 */
export async function findHeldRecall(
  { db, holding }: { readonly db: Connection; readonly holding: Holding },
  { statement, embedded }: AskedRecall,
  timeoutMs: number,
): Promise<RecallResult | null> {
  const { owners: held } = holding;
  const { scope } = statement.address;
  const keys = ownerKeys(scope);
  const copies = keys.flatMap((key) => held.get(key) ?? []);
  const areHeld = () => keys.every((key, at) => copies[at] !== undefined && held.get(key) === copies[at]);
  if (!areHeld()) return null;

  const words = statement.asked?.question.words ?? [];
  const speakers = speakersAmong(words, copies);
  const pulsing = findPulse(db, pulseOf(statement, copies, speakers), timeoutMs).then((pulse) => {
    const owners = ownersOf(scope, pulse);
    if (pulse.conversation !== null && areHeld()) {
      for (const [at, key] of keys.entries()) bringUp(held, key, copies[at] as OwnerCopy, owners[at] ?? null);
    }
    return { pulse, owners };
  });
  const looking = statement.asked ? look(embedded, copies) : { input: statement, nearness: null, ticks: [] };
  const [{ pulse, owners }, { input, ...looked }] = await Promise.all([pulsing, looking]);
  if (pulse.conversation === null) return nothingOf(pulse);
  // What has grown may have had to go, itself or another. Other speakers than before would have been asked of: one who has
  // spoken for the first time, or of whom the last memory is gone.
  if (!areHeld() || speakersAmong(words, copies).join(" ") !== speakers.join(" ")) return null;
  const strange = keys.filter((_, at) => !isInSpace(copies[at] as OwnerCopy, input));
  for (const key of strange) held.drop(key);
  if (strange.length > 0) return null;

  const texts = copies.map((copy, at) => ({ copy, owner: owners[at] ?? nobody }));
  const forms = await formsOf(holding, input, { pulse, texts }, timeoutMs);
  return areHeld() ? search(input, { pulse, texts, forms, looked }) : null;
}

/** How near a question is to the memories of copies that stand at `ticks`. */
interface LookedAt {
  readonly nearness: Nearness | null;
  readonly ticks: readonly number[];
}

/**
 * The recall with its vector, and what the copies' vectors say of it. The pulse is sent before: what is reckoned here takes
 * as long as the server needs for its answer, and the vectors of an owner seldom change meanwhile.
 */
async function look(
  embedded: () => Promise<RecallStatement>,
  copies: readonly OwnerCopy[],
): Promise<LookedAt & { readonly input: RecallStatement }> {
  await setImmediate();
  const input = await embedded();
  const isAsked = input.asked !== null && copies.every((copy) => isInSpace(copy, input));
  return {
    input,
    ticks: copies.map(({ tick }) => tick),
    nearness: isAsked
      ? questionNearness(
          copies.map(({ active }) => active),
          input.asked.selection,
        )
      : null,
  };
}

/** A copy, and its owner as the pulse found it. */
interface HeldTexts {
  readonly copy: OwnerCopy;
  readonly owner: Pick<
    PulseOwner,
    "memoryCount" | "memoryLength" | "messageCount" | "messageLength" | "threads"
  >;
}

/** An owner of whom nothing is kept. */
const nobody: HeldTexts["owner"] = {
  ...{ memoryCount: 0, memoryLength: 0, messageCount: 0, messageLength: 0, threads: 0 },
};

/** Whether the question can be compared with what is held: another model's vectors cannot. */
function isInSpace({ space }: OwnerCopy, { asked }: RecallStatement): boolean {
  const vector = asked?.selection.vector ?? null;
  return vector === null || vector.space.ref === space?.ref;
}

function speakersAmong(words: readonly string[], copies: readonly OwnerCopy[]): string[] {
  return words.filter((word) =>
    copies.some(({ active, said }) => active.hasSpeaker(word) || said.hasSpeaker(word)),
  );
}

function pulseOf(
  { address, limits, asked, known, changes, consents }: RecallStatement,
  copies: readonly OwnerCopy[],
  speakers: readonly string[],
): PulseStatement {
  return {
    address,
    limits,
    speakers,
    changes,
    consents,
    question: asked?.question ?? null,
    held: copies.flatMap(({ ref, tick }) => (ref === null ? [] : { ref, tick })),
    space: copies[0]?.space ?? null,
    categories: known.categories,
  };
}

/** The owners that the scope names, the user first; null for one of whom nothing is kept. */
function ownersOf({ userId, appId }: Scope, { owners }: PulseResult): (PulseOwner | null)[] {
  const find = (isUser: boolean) => owners.find((owner) => owner.isUser === isUser) ?? null;
  return [...(userId === undefined ? [] : [find(true)]), ...(appId === undefined ? [] : [find(false)])];
}

/** Words of the question that are looked up as if they were misspelt; none for most questions. */
async function formsOf(
  { words }: Pick<Holding, "words">,
  { asked }: RecallStatement,
  { pulse, texts }: { readonly pulse: PulseResult; readonly texts: readonly HeldTexts[] },
  timeoutMs: number,
): Promise<ReadonlyMap<string, WordForms>> {
  const { correctable = [] } = asked?.question ?? {};
  const hasTexts = texts.some(({ owner }) => owner.memoryCount + owner.messageCount > 0);
  if (correctable.length === 0 || !hasTexts) return new Map();
  const unknown = unknownTerms({ ...pulse, correctable }, counted(texts));
  return unknown.size === 0 ? new Map() : words.find(correctable, unknown, timeoutMs);
}

function counted(texts: readonly HeldTexts[]): CountedTexts[] {
  return texts.map(({ copy: { active, said } }) => ({ memories: active.found, messages: said.found }));
}

/** What was asked, up to date. */
interface PulsedTexts {
  readonly pulse: PulseResult;
  readonly texts: readonly HeldTexts[];
  readonly forms: ReadonlyMap<string, WordForms>;
  readonly looked: LookedAt;
}

function search(input: RecallStatement, pulsed: PulsedTexts): RecallResult {
  const { pulse, texts } = pulsed;
  const { address, known, notes } = input;
  const { categories } = known;
  const appId = address.scope.appId ?? "";
  const copies = texts.map(({ copy }) => copy);
  const memoriesOf = (refs: readonly number[]) => heldAt(copies, refs);
  const { now } = pulse;
  const orders = copies.map(({ order }) => order);
  const { profile, rest, ...counts } = listKnown(orders, { ...known, appId, now });
  // Of a scope with an app, that owner is the last.
  const app = appId === "" ? undefined : orders.at(-1);
  return {
    ...newsIn(pulse),
    ...counts,
    profile: memoriesOf(profile),
    rest: memoriesOf(rest),
    notes: app ? memoriesOf(listNotes(app, { categories, limit: notes, now })) : [],
    candidates: input.asked ? candidatesOf(input.asked, pulsed) : [],
  };
}

/** The memories of `refs`, in their order. */
function heldAt(copies: readonly OwnerCopy[], refs: readonly number[]): MemoryItem[] {
  const memories: MemoryItem[] = [];
  for (const ref of refs) {
    for (const { active } of copies) {
      const memory = active.memoryOf(ref);
      if (memory !== undefined) memories.push(memory);
    }
  }
  return memories;
}

function candidatesOf(
  { question, selection }: NonNullable<RecallStatement["asked"]>,
  { pulse, texts, forms, looked }: PulsedTexts,
): MemoryCandidate[] {
  const terms = askedTerms({ ...pulse, correctable: question.correctable }, counted(texts), forms);
  const heldSelection: HeldSelection = { ...selection, nowMs: pulse.now };
  const owners = texts.map(({ copy }) => copy.active);
  const memories = texts.map(({ copy: { active }, owner }) => {
    return { count: owner.memoryCount, length: owner.memoryLength, found: active.found };
  });
  return heldCandidates({
    owners,
    terms: weightedTerms(terms, memories),
    messages: spokenSignals(terms, texts, heldSelection),
    selection: heldSelection,
    nearness: texts.every(({ copy }, at) => copy.tick === looked.ticks[at]) ? looked.nearness : null,
  });
}

function spokenSignals(
  terms: readonly AskedTerm[],
  texts: readonly HeldTexts[],
  selection: HeldSelection,
): MessageSignals {
  const owners = texts.map(({ copy }) => copy.active);
  return messageSignals(
    {
      terms,
      owners: texts.map(({ copy, owner }) => {
        return { messages: copy.said, count: owner.messageCount, length: owner.messageLength };
      }),
      threads: texts.reduce((sum, { owner }) => sum + owner.threads, 0),
    },
    {
      appId: selection.scope.appId ?? "",
      matches: selection.limit * lookedAt.matches,
      candidates: selection.limit,
      learnedFrom: (thread, seq) => learnedFrom(owners, thread, seq),
      isLearnedThread: (thread) => owners.some((owner) => owner.isLearnedThread(thread)),
      isVisible: visibleIn(owners, selection),
    },
  );
}

/** The memories of all owners that were learned from a message, their refs ascending; undefined for none. */
function learnedFrom(
  owners: readonly HeldMemories[],
  thread: number,
  seq: number,
): readonly number[] | undefined {
  const learned = owners.flatMap((owner) => {
    const refs = owner.learnedFrom(thread, seq);
    return refs === undefined ? [] : [refs];
  });
  return learned.length < 2 ? learned[0] : learned.flat().sort((first, second) => first - second);
}

/** Of another scope's thread, nothing else was read. */
function nothingOf(pulse: PulseResult): RecallResult {
  return {
    ...newsIn(pulse),
    ...{ profile: [], rest: [], notes: [], candidates: [], knownCount: 0, knownCut: false },
  };
}

function newsIn({
  conversation,
  revision,
  revSeen,
  changeCount,
  changes,
  consents,
  broad,
}: PulseResult): Pick<RecallResult, keyof ToldNews | "broad"> {
  return { conversation, revision, revSeen, changeCount, changes, consents, broad };
}
