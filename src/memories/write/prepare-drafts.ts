import { MemoryError } from "../../errors.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Scope } from "../../scope/scope.js";
import { type Redactor, redactFields } from "../../text/redactor.js";
import type { PersonalField } from "../guard/consent-policy.rule.js";
import type { MemoryDraft } from "../item/memory.js";
import { wordNames } from "../item/memory-fields.js";
import { stemMeasures } from "./draft-similarity.js";
import { type PreparedMemory, prepareMemory, screenMemory } from "./prepare-memory.js";
import type { DraftGrounds, Statement } from "./statement.js";
import type { WriteOutcome, WriteRuntime } from "./write-types.js";
import { cutOff, hasAnyLength, splitAtSentences } from "./writing-constraints.rule.js";

export interface PreparedDrafts {
  /** By draft: "rejected" with its problems, or a placeholder. */
  readonly outcomes: readonly WriteOutcome[];
  /** By owner, users before apps, so that two writers cannot deadlock. */
  readonly owners: readonly (readonly Statement[])[];
  readonly space: EmbeddingSpace | null;
  /** Null if drafts are compared by words: without embeddings, or where one has no vector. */
  readonly comparedIn: EmbeddingSpace | null;
}

/** Some seconds in one transaction, which blocks the owner's other writers. */
const mostDrafts = 5_000;

/** A draft with what is known of it. */
export interface GroundedDraft extends DraftGrounds {
  readonly draft: MemoryDraft;
  /** The personal field that a model names. @default by its key */
  readonly personal?: PersonalField | null;
}

/**
 * Checks, redacts and embeds `drafts` before any lock is taken.
 * @throws MemoryError as `writeMemories`
 * @param input.anyLength keeps facts and insights as long as they are. @default false
 */
export async function prepareDrafts(
  runtime: WriteRuntime,
  input: {
    readonly scope: Scope;
    readonly drafts: readonly GroundedDraft[];
    readonly anyLength?: boolean | undefined;
  },
): Promise<PreparedDrafts> {
  const { redactor, screen, config } = runtime;
  const { scope, drafts, anyLength } = input;
  if (drafts.length > mostDrafts) {
    const problem = `At most ${mostDrafts} memories can be added in one call, got ${drafts.length}`;
    throw new MemoryError(
      "INVALID_INPUT",
      `${problem}: add them in several calls, or import them.`,
    );
  }
  const redacted = await Promise.all(drafts.map(({ draft }) => redactDraft(redactor, draft)));
  const checked = redacted.map((draft) => prepareMemory(draft, scope, config.policy, anyLength));
  const screened = await Promise.all(
    checked.map((memory) => ("problems" in memory ? memory : screenMemory(screen, memory))),
  );

  const outcomes: WriteOutcome[] = [];
  const memories = new Map<number, PreparedMemory>();
  for (const [at, memory] of screened.entries()) {
    if ("problems" in memory) {
      outcomes.push({ outcome: "rejected", id: null, ...memory });
      continue;
    }
    const trimmed = cutOff(redacted[at]?.text ?? "", memory.text);
    outcomes.push({
      outcome: "rejected",
      id: null,
      problems: [],
      ...(trimmed !== "" && { trimmed }),
    });
    memories.set(at, memory);
  }

  const { space, isWhole, compared } = await measure(runtime, [...memories.values()]);
  const statements = [...memories].map(([draft, memory]): Statement => {
    const { personal = null, draft: _, ...grounds } = drafts[draft] as GroundedDraft;
    const comparable = compared.get(memory) ?? { vector: null, measure: null };
    return { ...grounds, ...comparable, draft, memory: { ...memory, personal } };
  });
  const isOfUser = ({ memory }: Statement) => memory.scope.userId !== undefined;
  const owners = [statements.filter(isOfUser), statements.filter((each) => !isOfUser(each))];
  return {
    outcomes,
    owners: owners.filter(({ length }) => length > 0),
    space,
    comparedIn: isWhole ? space : null,
  };
}

/** How memories are compared: by vectors, or by words where one has none. In quarantine by none. */
async function measure({ db, embedder }: WriteRuntime, memories: readonly PreparedMemory[]) {
  const plain = memories.filter(({ quarantined }) => !quarantined);
  const texts = plain.map(({ text }) => text);
  const embedded = embedder && texts.length > 0 ? await embedder.documents(texts) : null;
  const isWhole = embedded?.vectors.every((vector) => vector !== null) ?? false;
  const isByWords = plain.length > 1 && !isWhole;
  const terms = plain.map((memory) => memory.terms);
  const measures = isByWords ? await stemMeasures(db, terms) : embedded?.units;
  const compared = new Map(
    plain.map((memory, at) => {
      return [memory, { vector: embedded?.vectors[at] ?? null, measure: measures?.[at] ?? null }];
    }),
  );
  return { space: embedded?.space ?? null, isWhole, compared };
}

/** Drafts of the whole sentences of a long fact or insight. A slot has one text. */
export async function splitDraft(redactor: Redactor, draft: MemoryDraft): Promise<MemoryDraft[]> {
  const { kind = "fact", key, text } = draft;
  if (key !== undefined || !hasAnyLength(kind) || typeof text !== "string") return [draft];
  if (splitAtSentences(kind, text).length < 2) return [draft];
  // A secret may have several sentences.
  const redacted = await redactor.text(text);
  return splitAtSentences(kind, redacted).map((part) => ({ ...draft, text: part }));
}

/** Redacts the quote too, but not its thread id. */
async function redactDraft(redactor: Redactor, draft: MemoryDraft): Promise<MemoryDraft> {
  const flat = { ...draft, evidence: draft.source?.quote };
  const { evidence: quote, ...fields } = await redactFields(redactor, flat, wordNames);
  return { ...fields, ...(draft.source && { source: { ...draft.source, quote } }) };
}
