import { z } from "zod";
import { MemoryError } from "../errors.js";
import { recordChanges } from "../memories/changes/record-changes.js";
import { requireRevision } from "../memories/edit/edit-memory.js";
import { type ConsentRequest, consentChange } from "../memories/guard/consent-request.rule.js";
import { settleConsents } from "../memories/guard/consent-statements.js";
import type { MemoryDraft } from "../memories/item/memory.js";
import { writeMemories } from "../memories/write/write-memories.js";
import type { WriteRuntime } from "../memories/write/write-runtime.js";
import type { Connection } from "../postgres/connection.js";
import { isSharedBy, parseScoped, type Scope, scopeField } from "../scope/scope.js";
import { lockOwner } from "../scope/scope-predicates.js";
import { revisionNumber, storableText } from "../text/parse-input.js";
import { type DraftedConsent, findConsent, postponeConsent } from "./consent-rows.js";

const decisionSchema = z.strictObject({
  scope: scopeField,
  id: z.string(),
  /** "later": nobody is asked about it for a day. */
  decision: z.enum(["approve", "refuse", "later"]),
  /** For the audit trail. */
  actor: storableText.refine((actor) => actor.trim() !== "", "actor must not be blank"),
  /** @default "code" */
  via: z.enum(["interrupt", "chat", "code", "cli", "http"]).default("code"),
  /** The user's words that it rests on. */
  evidence: z
    .strictObject({
      quote: storableText.min(1),
      message: storableText.optional(),
      threadId: storableText.optional(),
      messageId: storableText.optional(),
    })
    .optional(),
  /** With "approve": remember this instead. With a value alone the text follows it. */
  value: storableText.trim().min(1).optional(),
  text: storableText.trim().min(1).optional(),
  /** Why, in at most 2,000 characters, for the audit trail. @default none */
  reason: storableText.max(2_000).optional(),
  /** The request's `revision` as you read it: any change since is refused. @default any */
  ifRevision: revisionNumber.optional(),
});

export interface ConsentDecision extends Omit<z.input<typeof decisionSchema>, "scope"> {
  readonly scope: Scope;
}

type Parsed = Omit<z.output<typeof decisionSchema>, "scope">;

/** Decides in one transaction: see `ConsentsApi.decide`. A user's words are not kept with an app's request. */
export async function decideConsent(deps: WriteRuntime, input: ConsentDecision): Promise<ConsentRequest> {
  const { scope, ...parsed } = parseScoped(decisionSchema, input, "decision");
  const decision = await redacted(deps, parsed);
  const known = await requireWaiting(deps.db, scope, decision);
  const isShared = isSharedBy(scope, known.request.scope);
  if (isShared && (decision.text ?? decision.value) !== undefined) {
    const problem = `Request ${decision.id} is about what all users of the app are shown: leave \`text\` and \`value\` out.`;
    throw new MemoryError("INVALID_INPUT", problem);
  }
  const kept = isShared ? { ...decision, evidence: undefined } : decision;
  if (decision.decision === "later") await postponeConsent(deps.db, scope, decision.id);
  else if (decision.decision === "refuse") await refuse(deps, known.request, kept);
  else await approve(deps, known, kept);
  return (await requireConsent(deps.db, scope, decision.id)).request;
}

async function redacted({ redactor }: WriteRuntime, decision: Parsed): Promise<Parsed> {
  const { value, text, reason, evidence } = decision;
  return {
    ...decision,
    ...(await redactor.json({ value, text, reason })),
    ...(evidence && { evidence: await redactor.json(evidence) }),
  };
}

async function refuse({ db }: WriteRuntime, request: ConsentRequest, decision: Parsed): Promise<void> {
  const { id: requestId, scope, source } = request;
  const { actor, via, evidence, reason } = decision;
  await db.transaction(async (tx) => {
    const owner = await lockOwner(tx, scope);
    await settle(tx, request, decision, null);
    // No memory came of it, so the entry is the request's own.
    const entry = consentChange(request, { decision: "refuse", via, requestId, evidence, reason });
    await recordChanges(tx, {
      ownerRef: owner.ref,
      scope,
      actor,
      step: "consent",
      changes: [{ ...entry, threadId: evidence?.threadId ?? source?.threadId }],
    });
  });
}

async function approve(deps: WriteRuntime, { request, draft }: DraftedConsent, decision: Parsed): Promise<void> {
  const { actor, via, evidence, reason } = decision;
  await writeMemories(deps, {
    scope: request.scope,
    // The user's consent is believed over anything known before.
    drafts: [{ ...edited(draft, decision), confidence: 1, correction: true }],
    origin: { actor, step: "consent", consent: { via, evidence, reason, requestId: request.id } },
    async alongside(tx, [outcome]) {
      const memoryId = outcome?.id ?? null;
      if (memoryId === null || outcome?.outcome === "quarantined") {
        throw new MemoryError(
          "INVALID_INPUT",
          `That cannot be a memory: ${outcome?.message ?? `${outcome?.problems.join(", ") || outcome?.outcome}.`} Approve it with another \`text\`.`,
        );
      }
      if (outcome?.outcome === "kept") {
        throw new MemoryError(
          "WRONG_STATE",
          `Memory ${memoryId} holds that place, and an operator vouches for it: remove it first, or refuse the request.`,
        );
      }
      await settle(tx, request, decision, memoryId);
    },
  });
}

function edited(draft: MemoryDraft, { value, text }: Parsed): MemoryDraft {
  if (text !== undefined) return { ...draft, text, value };
  if (value === undefined) return draft;
  const { key = null, value: was = null } = draft;
  return { ...draft, value, text: textWithValue(draft.text, { was, value, key }) };
}

/** Replaces `was` by `value`. A text without the old value becomes the field's name and the new value. */
export function textWithValue(
  text: string,
  { was, value, key }: { readonly was: string | null; readonly value: string; readonly key: string | null },
): string {
  const at = was === null || was === "" ? -1 : text.indexOf(was);
  if (at >= 0) return text.slice(0, at) + value + text.slice(at + (was ?? "").length);
  const name = (key ?? "value").replaceAll("_", " ");
  return `The user's ${name}: ${value}.`;
}

/** @throws MemoryError when somebody else was first or its time is over, which undoes the transaction. */
async function settle(
  tx: Connection,
  { id, scope }: ConsentRequest,
  { decision, actor, via, evidence, ifRevision }: Parsed,
  memoryId: string | null,
): Promise<void> {
  await requireWaiting(tx, scope, { id, ifRevision });
  const status = decision === "approve" ? "approved" : "refused";
  const settled = await settleConsents(tx, [{ id, status, actor, via, evidence: evidence ?? null, memoryId }]);
  if (settled.length > 0) return;
  await requireWaiting(tx, scope, { id });
  throw new MemoryError("WRONG_STATE", `Request ${id} was decided at the same time. Look it up again.`);
}

async function requireConsent(db: Connection, scope: Scope, id: string): Promise<DraftedConsent> {
  const found = await findConsent(db, scope, id);
  if (found) return found;
  throw new MemoryError("NOT_FOUND", `There is no consent request ${id} in this scope.`);
}

async function requireWaiting(
  db: Connection,
  scope: Scope,
  { id, ifRevision }: { readonly id: string; readonly ifRevision?: number | undefined },
): Promise<DraftedConsent> {
  const found = await requireConsent(db, scope, id);
  if (found.request.status !== "pending") throw endedError(found.request);
  requireRevision(`Request ${id}`, found.request, ifRevision);
  return found;
}

function endedError(request: ConsentRequest): MemoryError {
  const { id, status, decidedAt, decidedBy, decidedVia, expiresAt } = request;
  const when = decidedAt?.toISOString();
  const by = decidedBy === null ? "" : ` by ${decidedBy}`;
  const messages: Partial<Record<typeof status, string>> = {
    expired: `expired on ${expiresAt.toISOString()} without a decision. It has to be proposed again.`,
    superseded: `was superseded on ${when}: another value was proposed${by}.`,
  };
  const message = messages[status] ?? `was ${status}${by || " by somebody"} (${decidedVia}) on ${when}.`;
  return new MemoryError("WRONG_STATE", `Request ${id} ${message}`, { details: { current: request } });
}
