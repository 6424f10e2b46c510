import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseInput, revisionNumber, storableText } from "../input/parse-input.js";
import { applyChanges } from "../memories/apply/apply-changes.js";
import { type ConsentRequest, consentChange } from "../memories/consent/consent-request.rule.js";
import { settleConsents } from "../memories/consent/consent-statements.js";
import { requireRevision } from "../memories/edit/edit-memory.js";
import type { MemoryDraft } from "../memories/item/memory.js";
import { writeMemories } from "../memories/write/write-memories.js";
import type { WriteRuntime } from "../memories/write/write-types.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { listed, requiredScope, type Scope } from "../scope/scope.js";
import { lockOwner } from "../scope/scope-predicates.js";
import { firstOf, type Work } from "../work/define-work.js";
import {
  type ConsentListing,
  consentListing,
  type DraftedConsent,
  expireConsents,
  findConsent,
  hasExpiredConsents,
  listConsents,
  postponeConsent,
} from "./consent-rows.js";

const requestsPerBatch = 500;

/** Marks overdue requests as expired. */
export function defineConsentExpiry(db: Database): Work {
  return {
    kind: "consent-expiry",
    due: async () => ((await hasExpiredConsents(db)) ? [0] : []),
    run: firstOf(async () => {
      while ((await expireConsents(db, requestsPerBatch)) === requestsPerBatch);
    }),
  };
}

/**
 * Pending changes: sensitive fields wait for the user's consent, benign ones for a second signal.
 */
export interface ConsentsApi {
  /**
   * Lists pending requests (or those in `status`), newest first, in pages of `limit` (1 to 1,000).
   * Without a scope: everybody's, for operators.
   * @example
   * ```ts
   * const waiting = await memory.consents.list({ scope: { userId: "ana" } });
   * ```
   * @throws MemoryError `INVALID_INPUT`
   */
  list(listing?: ConsentListing): Promise<ConsentRequest[]>;
  /**
   * Approves a request, which writes the memory, or refuses it; the first decision wins. "later"
   * postpones it for a day.
   * @example
   * ```ts
   * const [asked] = await memory.consents.list({ scope: { userId: "ana" } });
   * if (asked)
   *   await memory.consents.decide({
   *     scope: { userId: "ana" },
   *     id: asked.id,
   *     decision: "approve",
   *     actor: "user",
   *     evidence: { quote: "Yes, remember it." },
   *   });
   * ```
   * @throws MemoryError `NOT_FOUND`, `WRONG_STATE` with who decided and when, `STALE_REVISION`,
   * `INVALID_INPUT`
   */
  decide(decision: ConsentDecision): Promise<ConsentRequest>;
}

export function createConsentsApi(deps: WriteRuntime): ConsentsApi {
  const { db } = deps;
  return {
    list: (listing) => listed(consentListing, listing, "listing", (page) => listConsents(db, page)),
    decide: (decision) => decideConsent(deps, decision),
  };
}

const decisionSchema = z.strictObject({
  scope: requiredScope,
  id: z.string(),
  /** "later" postpones the request for a day. */
  decision: z.enum(["approve", "refuse", "later"]),
  /** For the audit trail. */
  actor: storableText.refine((actor) => actor.trim() !== "", "actor must not be blank"),
  /** @default "code" */
  via: z.enum(["interrupt", "chat", "code", "cli", "http"]).default("code"),
  /** The user's words that justify the decision. */
  evidence: z
    .strictObject({
      quote: storableText.min(1),
      message: storableText.optional(),
      threadId: storableText.optional(),
      messageId: storableText.optional(),
    })
    .optional(),
  /**
   * With "approve": stored instead of the proposal. A `value` alone also replaces the value in the
   * text.
   */
  value: storableText.trim().min(1).optional(),
  text: storableText.trim().min(1).optional(),
  /** Why, in at most 2,000 characters, for the audit trail. @default none */
  reason: storableText.max(2_000).optional(),
  /**
   * The request's `revision` as you read it; after a later change: `STALE_REVISION`.
   * @default any
   */
  ifRevision: revisionNumber.optional(),
});

export interface ConsentDecision extends z.input<typeof decisionSchema> {}

type Parsed = Omit<z.output<typeof decisionSchema>, "scope">;

/** See `ConsentsApi.decide`. */
async function decideConsent(deps: WriteRuntime, input: ConsentDecision): Promise<ConsentRequest> {
  const { scope, ...parsed } = parseInput(decisionSchema, input, "decision");
  const { id, value, text, reason } = parsed;
  const words = await deps.redactor.json({ value, text, reason });
  // An app's users all see the history of its memories: it has no words of one of them.
  const given = scope.userId === undefined ? undefined : parsed.evidence;
  const evidence = given && (await deps.redactor.json(given));
  const decision = { ...parsed, ...words, evidence };
  const pending = await requirePending(deps.db, scope, decision);
  if (decision.decision === "later") await postponeConsent(deps.db, scope, id);
  else if (decision.decision === "refuse") await refuse(deps, pending.request, decision);
  else await approve(deps, pending, decision);
  return (await requireConsent(deps.db, scope, id)).request;
}

async function refuse(
  { db }: WriteRuntime,
  request: ConsentRequest,
  decision: Parsed,
): Promise<void> {
  const { id: requestId, scope, source } = request;
  const { actor, via, evidence, reason } = decision;
  await db.transaction(async (tx) => {
    const { ref: ownerRef } = await lockOwner(tx, scope);
    await settleRequest(tx, request, decision, null);
    const entry = consentChange(request, { decision: "refuse", via, requestId, evidence, reason });
    const changes = [{ ...entry, threadId: evidence?.threadId ?? source?.threadId }];
    await applyChanges(tx, { ownerRef, scope, actor, step: "consent" }, { changes });
  });
}

async function approve(
  deps: WriteRuntime,
  { request, draft }: DraftedConsent,
  decision: Parsed,
): Promise<void> {
  const { actor, via, evidence, reason } = decision;
  await writeMemories(deps, {
    scope: request.scope,
    // The user's consent outranks every existing memory.
    drafts: [{ ...withEdit(draft, decision), confidence: 1, correction: true }],
    origin: { actor, step: "consent", consent: { via, evidence, reason, requestId: request.id } },
    async finish(tx, [outcome]) {
      const memoryId = outcome?.id ?? null;
      if (memoryId === null || outcome?.outcome === "quarantined") {
        const problem = outcome?.message ?? `${outcome?.problems.join(", ") || outcome?.outcome}.`;
        throw new MemoryError(
          "INVALID_INPUT",
          `That cannot be a memory: ${problem} Approve it with another \`text\`.`,
        );
      }
      if (outcome?.outcome === "kept") {
        throw new MemoryError(
          "WRONG_STATE",
          `Memory ${memoryId} has that slot, and an operator approved it: remove it first, or refuse the request.`,
        );
      }
      await settleRequest(tx, request, decision, memoryId);
    },
  });
}

/** The draft with the value also in its text, or else "The user's {key}: {value}." */
function withEdit(draft: MemoryDraft, { value, text }: Parsed): MemoryDraft {
  if (text !== undefined) return { ...draft, text, value };
  if (value === undefined) return draft;
  const { text: old, value: was, key = "value" } = draft;
  if (was && old.includes(was)) return { ...draft, value, text: old.replace(was, () => value) };
  return { ...draft, value, text: `The user's ${key.replaceAll("_", " ")}: ${value}.` };
}

/** @throws MemoryError when the request is decided or expired, which undoes the transaction. */
async function settleRequest(
  tx: Connection,
  { id, scope }: ConsentRequest,
  { decision, actor, via, evidence, ifRevision }: Parsed,
  memoryId: string | null,
): Promise<void> {
  await requirePending(tx, scope, { id, ifRevision });
  const status = decision === "approve" ? "approved" : "refused";
  const settled = await settleConsents(tx, [{ id, status, actor, via, evidence, memoryId }]);
  if (settled.length > 0) return;
  await requirePending(tx, scope, { id });
  throw new MemoryError(
    "WRONG_STATE",
    `Request ${id} was decided at the same time. Look it up again.`,
  );
}

async function requireConsent(db: Connection, scope: Scope, id: string): Promise<DraftedConsent> {
  const found = await findConsent(db, scope, id);
  if (found) return found;
  const problem = `There is no consent request ${id} in this scope.`;
  const advice = scope.userId === undefined ? "" : " An app's are decided in its own, `{ appId }`.";
  throw new MemoryError("NOT_FOUND", problem + advice);
}

async function requirePending(
  db: Connection,
  scope: Scope,
  { id, ifRevision }: Pick<Parsed, "id" | "ifRevision">,
): Promise<DraftedConsent> {
  const found = await requireConsent(db, scope, id);
  if (found.request.status !== "pending") throw notPending(found.request);
  requireRevision(`Request ${id}`, found.request, ifRevision);
  return found;
}

function notPending(request: ConsentRequest): MemoryError {
  const { id, status, decidedAt, decidedBy, decidedVia, expiresAt } = request;
  const when = decidedAt?.toISOString();
  const by = decidedBy === null ? "" : ` by ${decidedBy}`;
  const messages: Partial<Record<typeof status, string>> = {
    expired: `expired on ${expiresAt.toISOString()} without a decision. It has to be proposed again.`,
    superseded: `was superseded on ${when}: another value was proposed${by}.`,
  };
  const message =
    messages[status] ?? `was ${status}${by || " by somebody"} (${decidedVia}) on ${when}.`;
  return new MemoryError("WRONG_STATE", `Request ${id} ${message}`, {
    details: { current: request },
  });
}
