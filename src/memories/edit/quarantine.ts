import { z } from "zod";
import { asListed } from "../../postgres/isolation.js";
import { parseListed, parseScoped, type Scope, scopeField, tenantField } from "../../scope/scope.js";
import { lockOwner } from "../../scope/scope-predicates.js";
import { pageRows, parseInput, revisionNumber, storableText } from "../../text/parse-input.js";
import { recordChanges } from "../changes/record-changes.js";
import { type MemoryItem, versionOf } from "../item/memory.js";
import { listMemories, listQuarantined } from "../item/memory-row.js";
import { purgeMemories } from "../write/memory-states.js";
import type { WriteRuntime } from "../write/write-runtime.js";
import { type ChangeInput, editMemory, groundsOf, requireMemory } from "./edit-memory.js";
import { rewriteContent, unexpiredFrom } from "./rewrite-content.js";

/** Whose memory, and the person who decides. */
export interface QuarantineDecision {
  readonly scope: Scope;
  /** For the audit trail: the operator's name. @default "operator" */
  readonly actor?: string | undefined;
  /** `revision` of the memory when it was looked at: one that changed since is refused. @default any */
  readonly ifRevision?: number | undefined;
  /** Why, in at most 2,000 characters: the audit trail keeps it. @default none */
  readonly reason?: string | undefined;
}

/** An approval, and the user's word for it where that is needed. */
export interface QuarantineApproval extends QuarantineDecision {
  /** "given": the user agreed to this very value, without which no sensitive field is filled. */
  readonly consent?: "given" | undefined;
}

/**
 * What reads as instructions to a model, whoever said it: stored, found by no search and shown to no agent, until a
 * person decides. For operators only; nothing here belongs in a prompt or in reach of an agent.
 */
export interface QuarantineApi {
  /** What waits for a decision, latest first: of a scope, or without one of everybody. */
  list(listing?: {
    readonly scope?: Scope | undefined;
    /** Without a scope: only what this tenant has. @default what all tenants have */
    readonly tenantId?: string | undefined;
    /** Rows, 1 to 1,000. @default 100 */
    readonly limit?: number | undefined;
    /** Only those after this id: the last of the page before. */
    readonly after?: string | undefined;
  }): Promise<MemoryItem[]>;
  /**
   * Makes it an ordinary memory, on the operator's word: its trust becomes "operator".
   *
   * @throws MemoryError `NOT_FOUND`, `STALE_REVISION`; `WRONG_STATE` when it is not in quarantine; `CONFLICT` or
   *   `CONFLICT` when an active memory holds its slot or says the same; `CONSENT_REQUIRED` for a sensitive field
   *   without consent.
   */
  approve(id: string, decision: QuarantineApproval): Promise<MemoryItem>;
  /**
   * Deletes it; the audit trail keeps what it was.
   *
   * @throws MemoryError `NOT_FOUND`, `STALE_REVISION`, `WRONG_STATE` when it is not in quarantine.
   */
  reject(id: string, decision: QuarantineDecision): Promise<void>;
}

/** The step these decisions are counted under. */
const step = "quarantine";

const pageSchema = z.strictObject({
  scope: scopeField,
  tenantId: tenantField,
  limit: pageRows,
  after: z.string().optional(),
});
const decisionSchema = z.strictObject({
  scope: scopeField,
  actor: storableText.default("operator"),
  ifRevision: revisionNumber.optional(),
  reason: storableText.max(2_000).optional(),
});
const approvalSchema = decisionSchema.extend({ consent: z.literal("given").optional() });
const idSchema = z.string();

/** The `QuarantineApi` on `deps`. */
export function createQuarantineApi(deps: WriteRuntime): QuarantineApi {
  return {
    list: async (page) => {
      const { scope, ...asked } = parseListed(pageSchema, page, "page");
      const list = () =>
        scope
          ? listMemories(deps.db, { ...asked, scope, states: ["quarantined"] })
          : listQuarantined(deps.db, asked);
      return asListed({ ...asked, scope }, list);
    },
    approve: async (id, approval) => {
      const { consent, ...decision } = parseScoped(approvalSchema, approval, "approval");
      return approve(deps, {
        ...{ ...decision, id: parseInput(idSchema, id, "memory id") },
        consent: consent && { via: "code" },
      });
    },
    reject: async (id, decision) =>
      reject(deps, {
        ...parseScoped(decisionSchema, decision, "decision"),
        id: parseInput(idSchema, id, "memory id"),
      }),
  };
}

async function approve(deps: WriteRuntime, decision: ChangeInput): Promise<MemoryItem> {
  const known = await requireMemory(deps.db, decision, ["quarantined"]);
  const embedded = (await deps.embedder?.documents([known.text])) ?? null;
  return editMemory(deps, { ...decision, step, states: ["quarantined"] }, async (editing) => {
    const before = unexpiredFrom(editing, editing.before);
    // What nobody's name stands under is the operator's from here on.
    const origin = before.origin === "unknown" ? "operator" : before.origin;
    const how = { embedded, vouched: true, origin, trust: "operator" } as const;
    const also = await rewriteContent(deps, editing, before, how);
    const { state, trust } = before;
    const next = { ...versionOf(before), state: "active", trust: "operator" };
    return { event: "UPDATE", news: "created", old: { state, trust }, new: next, also };
  });
}

async function reject(deps: WriteRuntime, decision: ChangeInput): Promise<void> {
  const { scope } = await requireMemory(deps.db, decision, ["quarantined"]);
  const because = await groundsOf(deps, decision);
  await deps.db.transaction(async (tx) => {
    const { ref: ownerRef } = await lockOwner(tx, scope);
    const memory = await requireMemory(tx, decision, ["quarantined"]);
    const { id, state, category } = memory;
    const old = { ...versionOf(memory), state };
    const now = { state: "rejected", ...because };
    const change = { memoryId: id, event: "DELETE", old, new: now, category } as const;
    await recordChanges(tx, {
      ...{ ownerRef, scope, actor: decision.actor, step },
      changes: [{ ...change, news: null, similarity: null }],
    });
    await purgeMemories(tx, { ownerRef, ids: [id] });
  });
}
