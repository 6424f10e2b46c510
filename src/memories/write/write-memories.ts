import { MemoryError } from "../../errors.js";
import type { MemoryEvent } from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import { lockOwner } from "../../scope/lock-owner.js";
import type { Scope } from "../../scope/scope.js";
import type { Redactor } from "../../text/redactor.js";
import type { MemoryDraft } from "../item/memory.js";
import type { OwnerDraft } from "./draft-waves.js";
import { type PreparedMemory, prepareMemory } from "./prepare-memory.js";
import { quarantineDrafts } from "./quarantine-drafts.js";
import { writeForOwner } from "./write-for-owner.js";
import type { WriteOrigin, WriteOutcome, WriteRuntime } from "./write-runtime.js";

/**
 * `draft`, with all that it says redacted: text, key, value, tags, whose it is and who said it, and the quote it
 * rests on. The id of its thread is no text.
 */
async function redactDraft(redactor: Redactor, draft: MemoryDraft): Promise<MemoryDraft> {
  const { text, key, value, tags, agentId, runId, actorId, role, source } = draft;
  const said = { text, key, value, tags, agentId, runId, actorId, role, quote: source?.quote };
  const { quote, ...fields } = await redactor.json(said);
  return { ...draft, ...fields, ...(source && { source: { ...source, quote } }) };
}

/** Some seconds of work in one transaction, which the owner's other writers wait for. */
const mostDrafts = 5_000;

/**
 * Writes `drafts`, each by the rules of `decideWrite`, in one transaction. Outcomes are in their order.
 *
 * Row, lexical index, vector, links, audit trail, revision and event are written together or not at all. The
 * owner's lock makes concurrent writers take turns, so equal drafts end in one memory.
 *
 * @throws MemoryError `INVALID_INPUT`, also for more than 5,000 drafts; `SCOPE_REQUIRED`, `EMBEDDING_FAILED`,
 *   `DIMENSION_MISMATCH`, `REDACTION_FAILED`.
 */
export async function writeMemories(
  deps: WriteRuntime,
  input: {
    scope: Scope;
    drafts: readonly MemoryDraft[];
    origin: WriteOrigin;
    /** Done in the same transaction after the writes; its error undoes them. */
    alongside?: ((tx: Connection, outcomes: readonly WriteOutcome[]) => Promise<void>) | undefined;
  },
): Promise<WriteOutcome[]> {
  if (input.drafts.length > mostDrafts) {
    throw new MemoryError(
      "INVALID_INPUT",
      `At most ${mostDrafts} memories can be added at once, got ${input.drafts.length}: add them in several calls, ` +
        "or import them.",
    );
  }
  const redacted = await Promise.all(input.drafts.map((draft) => redactDraft(deps.redactor, draft)));
  const prepared = redacted.map((draft) =>
    prepareMemory(draft, input.scope, { policy: deps.config.policy, language: deps.db.language }),
  );
  const valid = prepared.flatMap((memory, index) => ("problems" in memory ? [] : [{ index, memory }]));
  const outcomes: WriteOutcome[] = prepared.map((memory) => ({
    outcome: "rejected",
    id: null,
    problems: "problems" in memory ? memory.problems : [],
  }));
  if (valid.length === 0 && !input.alongside) return outcomes;

  // The model works before a connection is taken.
  const texts = valid.filter(({ memory }) => !memory.quarantined).map(({ memory }) => memory.text);
  const embedded = deps.embedder && texts.length > 0 ? await deps.embedder.documents(texts) : null;
  let embeddings = 0;
  const drafts = valid.map(({ index, memory }) => ({
    index,
    memory,
    vector: memory.quarantined ? null : (embedded?.vectors[embeddings++] ?? null),
    sameAs: (known: { id: string | null; text: string }) =>
      input.origin.sameAs?.(input.drafts[index] as MemoryDraft, known) ?? "different",
    turnsAgo: input.origin.turnsAgo?.(input.drafts[index] as MemoryDraft) ?? 0,
  }));
  await deps.db.transaction(async (tx) => {
    for (const group of byOwner(drafts)) {
      const { scope } = (group[0] as OwnerDraft).memory;
      const owner = await lockOwner(tx, scope);
      const context = {
        tx,
        owner,
        scope,
        config: deps.config,
        space: embedded?.space ?? null,
        origin: input.origin,
        fresh: new Set<string>(),
      };
      const [suspect, plain] = partition(group, ({ memory }) => memory.quarantined);
      for (const [index, outcome] of await writeForOwner(context, plain)) outcomes[index] = outcome;
      for (const [index, outcome] of await quarantineDrafts(context, suspect)) outcomes[index] = outcome;
    }
    await input.alongside?.(tx, outcomes);
  });
  return outcomes;
}

/** Drafts by the owner they go to. Owners are always locked users first, so that two writers never wait for each other. */
function byOwner(drafts: readonly OwnerDraft[]): OwnerDraft[][] {
  const ofUser = ({ scope }: PreparedMemory) => scope.userId !== undefined;
  const groups = [
    drafts.filter(({ memory }) => ofUser(memory)),
    drafts.filter(({ memory }) => !ofUser(memory)),
  ];
  return groups.filter((group) => group.length > 0);
}

function partition<Item>(items: readonly Item[], chosen: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(chosen), items.filter((item) => !chosen(item))];
}

/** What the event of a model's proposal says about its outcome. */
export function classified(
  outcome: WriteOutcome | undefined,
  trimmed: boolean,
  remark?: string,
): Pick<MemoryEvent, "status" | "detail"> {
  if (outcome?.outcome === "rejected" || outcome?.outcome === "quarantined") {
    return { status: "skipped", detail: outcome.problems[0] };
  }
  const remarks = [outcome?.outcome, remark, trimmed ? "trimmed" : undefined].filter(Boolean);
  return { status: "ok", ...(remarks.length > 0 && { detail: remarks.join(", ") }) };
}
