import { MemoryError } from "../../errors.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { type Redactor, redactFields } from "../../text/redactor.js";
import { consentRule } from "../guard/consent-policy.rule.js";
import { findStandingConsents } from "../guard/consent-statements.js";
import type { MemoryDraft } from "../item/memory.js";
import { wordNames } from "../item/memory-fields.js";
import type { PlanTarget } from "./apply-plan.js";
import { decideWrite, mergeThresholds } from "./decide-write.rule.js";
import { expireMemories } from "./expire-memories.js";
import { findWriteCandidates } from "./find-write-candidates.js";
import { prepareMemory, screenMemory } from "./prepare-memory.js";
import { type GatheredStatement, type SaidBefore, type Statement, toldTo } from "./statement.js";
import { findNearStatements, type NearStatements } from "./waves.js";
import type { WriteConfig, WriteOutcome, WriteRuntime } from "./write-runtime.js";
import { cutOff } from "./writing-constraints.rule.js";

export interface GatheredDrafts {
  /** For each draft: "rejected", with its problems, or a place for the outcome. */
  readonly outcomes: readonly WriteOutcome[];
  /** Users come before apps: see `lockOwner`. */
  readonly owners: readonly OwnerStatements[];
  readonly space: EmbeddingSpace | null;
  /** For each draft, the end of its text that is too much for a memory; empty for most. */
  readonly trimmed: readonly string[];
}

export interface OwnerStatements {
  readonly scope: Scope;
  readonly batches: readonly StatementBatch[];
  /** Statements that read as instructions to a model. */
  readonly quarantined: readonly Statement[];
}

interface StatementBatch extends NearStatements {
  readonly statements: readonly Statement[];
}

/** Some seconds in one transaction, which the owner's other writers wait for. */
const mostDrafts = 5_000;

/** Statements of one batch: some tens of thousands of comparisons. */
const mostInBatch = 300;

/**
 * Checks, redacts, embeds and compares `drafts` before any lock is taken.
 *
 * @param input.turnsAgo for each draft, in turns of the owner. @default 0
 * @throws MemoryError as `writeMemories`
 */
export async function gatherDrafts(
  { db, config, embedder, redactor, screen }: WriteRuntime,
  input: {
    readonly scope: Scope;
    readonly drafts: readonly MemoryDraft[];
    readonly turnsAgo?: readonly number[] | undefined;
  },
): Promise<GatheredDrafts> {
  const { scope, drafts, turnsAgo = [] } = input;
  if (drafts.length > mostDrafts) {
    throw new MemoryError(
      "INVALID_INPUT",
      `At most ${mostDrafts} memories can be added at once, got ${drafts.length}: add them in several calls, ` +
        "or import them.",
    );
  }
  const redacted = await Promise.all(drafts.map((draft) => redactDraft(redactor, draft)));
  const settings = { policy: config.policy, language: db.language };
  const checked = redacted.map((draft) => prepareMemory(draft, scope, settings));
  const prepared = await Promise.all(
    checked.map((memory) => ("problems" in memory ? memory : screenMemory(screen, memory))),
  );
  const valid = prepared.flatMap((memory, draft) => ("problems" in memory ? [] : { memory, draft }));

  const texts = valid.filter(({ memory }) => !memory.quarantined).map(({ memory }) => memory.text);
  const embedded = embedder && texts.length > 0 ? await embedder.documents(texts) : null;
  const vectors = embedded?.vectors.values();
  const statements = valid.map(({ memory, draft }): Statement => {
    const vector = memory.quarantined ? null : (vectors?.next().value ?? null);
    return { memory, vector, said: [{ draft, turnsAgo: turnsAgo[draft] ?? 0, source: memory.source }] };
  });
  const space = embedded?.space ?? null;
  const owners: OwnerStatements[] = [];
  for (const told of byOwner(statements)) owners.push(await compared(db, { config, space }, told));
  const trimmed = prepared.map((memory, at) =>
    "problems" in memory ? "" : cutOff(redacted[at]?.text ?? "", memory.text),
  );
  const outcomes = prepared.map((memory): WriteOutcome => {
    const why = "problems" in memory ? memory : { problems: [] };
    return { outcome: "rejected", id: null, ...why };
  });
  return { outcomes, owners, space, trimmed };
}

/**
 * Candidates and consent requests for each of `wave`, under the owner's lock. One statement for every 200,
 * and one more where consent is needed.
 */
export async function gatherWave(
  tx: Connection,
  context: Pick<PlanTarget, "owner" | "scope" | "space"> & { readonly config: WriteConfig },
  wave: readonly Statement[],
): Promise<GatheredStatement[]> {
  const { owner, scope, config, space } = context;
  const ownerRef = owner.ref;
  const find = () => findWriteCandidates(tx, { ownerRef, space, sought: wave });
  let known = await find();
  if (known.flat().some(({ expired }) => expired)) {
    const { purgeAfterMs } = config.lifecycle;
    await expireMemories(tx, { owner, scope, purgeAfterMs, vectors: space !== null });
    known = await find();
  }
  const isGuarded = wave.some(({ memory }) => consentRule(config.consent, memory) !== null);
  const probes = wave.map(({ memory: { scope, category, key = null } }) => {
    return { appId: scope.appId ?? "", category, key };
  });
  const standing = isGuarded ? await findStandingConsents(tx, { ownerRef, probes }) : [];
  return wave.map((statement, at) => {
    return { statement, known: known[at] ?? [], standing: standing[at] ?? [] };
  });
}

/** A draft that nearly says what is known, or what an earlier draft says. */
export interface OpenPair {
  readonly draft: number;
  readonly said: string;
  readonly known: SaidBefore;
}

/** Pairs that only a model can tell apart: see `Answer`. */
export async function findOpenPairs(
  { db, config }: Pick<WriteRuntime, "db" | "config">,
  ownerRef: number,
  { owners, space }: GatheredDrafts,
): Promise<OpenPair[]> {
  const batches = owners.flatMap((owner) => owner.batches);
  const sought = batches.flatMap(({ statements }) => statements);
  const found = await findWriteCandidates(db, { ownerRef, space, sought });
  const stored = sought.flatMap((statement, at): OpenPair[] => {
    const known = found[at] ?? [];
    // Turn and time matter only for slots, which are never compared.
    const { memory } = toldTo({ turns: 0, now: new Date(0) }, statement);
    const decision = decideWrite(memory, known, mergeThresholds(memory, config));
    const nearest = known.find(({ id }) => decision.action === "ask" && id === decision.id);
    return nearest ? [openPair(statement, nearest)] : [];
  });
  const among = batches
    .flatMap(({ near }) => near)
    .filter(({ band }) => band === "ask")
    .map(({ earlier, later }) => openPair(later, { id: null, text: earlier.memory.text }));
  return [...stored, ...among];
}

function openPair({ memory, said: [{ draft }] }: Statement, { id, text }: SaidBefore): OpenPair {
  return { draft, said: memory.text, known: { id, text } };
}

/** Redacts also the quote, but not the id of its thread. */
async function redactDraft(redactor: Redactor, draft: MemoryDraft): Promise<MemoryDraft> {
  const flat = { ...draft, evidence: draft.source?.quote };
  const { evidence: quote, ...fields } = await redactFields(redactor, flat, wordNames);
  return { ...fields, ...(draft.source && { source: { ...draft.source, quote } }) };
}

/** Users come first, so that two writers never wait for each other. */
function byOwner(statements: readonly Statement[]): Statement[][] {
  const isOfUser = ({ memory }: Statement) => memory.scope.userId !== undefined;
  const groups = [statements.filter(isOfUser), statements.filter((each) => !isOfUser(each))];
  return groups.filter((group) => group.length > 0);
}

async function compared(
  db: Connection,
  context: { readonly config: WriteConfig; readonly space: EmbeddingSpace | null },
  told: readonly Statement[],
): Promise<OwnerStatements> {
  const { scope } = (told[0] as Statement).memory;
  const quarantined = told.filter(({ memory }) => memory.quarantined);
  const plain = told.filter(({ memory }) => !memory.quarantined);
  const batches: StatementBatch[] = [];
  for (let from = 0; from < plain.length; from += mostInBatch) {
    const statements = plain.slice(from, from + mostInBatch);
    batches.push({ statements, ...(await findNearStatements(db, context, statements)) });
  }
  return { scope, batches, quarantined };
}
