import { MemoryError } from "../../errors.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Scope } from "../../scope/scope.js";
import { type Redactor, redactFields } from "../../text/redactor.js";
import type { PersonalField } from "../guard/consent-policy.rule.js";
import type { MemoryDraft } from "../item/memory.js";
import { wordNames } from "../item/memory-fields.js";
import { stemMeasures } from "./draft-similarity.js";
import { prepareMemory, screenMemory } from "./prepare-memory.js";
import type { Statement } from "./statement.js";
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

/**
 * Checks, redacts and embeds `drafts` before any lock is taken.
 * @throws MemoryError as `writeMemories`
 * @param input.turnsAgo by draft, in turns of the owner. @default 0
 * @param input.anyLength keeps facts and insights as long as they are. @default false
 * @param input.personal a model's personal field, by draft. @default by its key
 */
export async function prepareDrafts(
  { db, config, embedder, redactor, screen }: WriteRuntime,
  input: {
    readonly scope: Scope;
    readonly drafts: readonly MemoryDraft[];
    readonly turnsAgo?: readonly number[] | undefined;
    readonly personal?: readonly (PersonalField | null)[] | undefined;
    readonly anyLength?: boolean | undefined;
  },
): Promise<PreparedDrafts> {
  const { scope, drafts, turnsAgo = [], personal = [] } = input;
  if (drafts.length > mostDrafts) {
    const problem = `At most ${mostDrafts} memories can be added in one call, got ${drafts.length}`;
    throw new MemoryError(
      "INVALID_INPUT",
      `${problem}: add them in several calls, or import them.`,
    );
  }
  const redacted = await Promise.all(drafts.map((draft) => redactDraft(redactor, draft)));
  const checked = redacted.map((draft) =>
    prepareMemory(draft, scope, config.policy, input.anyLength),
  );
  const prepared = await Promise.all(
    checked.map((memory) => ("problems" in memory ? memory : screenMemory(screen, memory))),
  );
  const valid = prepared.flatMap((memory, draft) =>
    "problems" in memory ? [] : { memory, draft },
  );

  const plain = valid.filter(({ memory }) => !memory.quarantined);
  const embedded =
    embedder && plain.length > 0
      ? await embedder.documents(plain.map(({ memory }) => memory.text))
      : null;
  const isWhole = embedded?.vectors.every((vector) => vector !== null) ?? false;
  const terms = plain.length > 1 && !isWhole ? plain.map(({ memory }) => memory.terms) : [];
  const stems = terms.length > 0 ? await stemMeasures(db, terms) : [];
  const compared = new Map(
    plain.map(({ draft }, at) => {
      const measure = stems[at] ?? embedded?.units[at] ?? null;
      return [draft, { vector: embedded?.vectors[at] ?? null, measure }];
    }),
  );
  const statements = valid.map(({ memory, draft }): Statement => {
    const { vector = null, measure = null } = compared.get(draft) ?? {};
    const named = { ...memory, personal: personal[draft] ?? null };
    return { draft, turnsAgo: turnsAgo[draft] ?? 0, memory: named, vector, measure };
  });
  const isOfUser = ({ memory }: Statement) => memory.scope.userId !== undefined;
  const owners = [statements.filter(isOfUser), statements.filter((each) => !isOfUser(each))];
  const outcomes = prepared.map((memory, at): WriteOutcome => {
    if ("problems" in memory) return { outcome: "rejected", id: null, ...memory };
    const trimmed = cutOff(redacted[at]?.text ?? "", memory.text);
    return { outcome: "rejected", id: null, problems: [], ...(trimmed !== "" && { trimmed }) };
  });
  return {
    outcomes,
    owners: owners.filter(({ length }) => length > 0),
    space: embedded?.space ?? null,
    comparedIn: isWhole && embedded ? embedded.space : null,
  };
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
