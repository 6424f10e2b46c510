import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { EventStep } from "../../observability/events/event-log.js";
import type { Runtime } from "../../runtime.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import type { InsightsDue } from "../../work/work-table.js";
import type { ConsentPolicy } from "../consent/consent-policy.rule.js";
import type { ConsentGiven } from "../consent/consent-request.rule.js";
import type { CategoryPolicy } from "../item/category.rule.js";
import type { MemoriesSettings } from "../item/memories-settings.js";
import type { WritingProblem } from "./writing-constraints.rule.js";

export interface WriteConfig {
  readonly memories: MemoriesSettings;
  readonly policy: CategoryPolicy;
  readonly consent: ConsentPolicy;
  readonly lifecycle: { readonly purgeAfterMs: number };
  readonly insights: InsightsDue;
  readonly retrieval: { readonly timeZone: string };
}

export type WriteRuntime = Runtime<WriteConfig>;

/** The result for one draft. */
export interface WriteOutcome {
  /**
   * "merged" into an equal memory; "updated": an equal value got this text; "replaced" another
   * memory; "kept": the slot keeps its value; "closed": stored as a past value; "rejected" by the
   * writing constraints; "quarantined": hidden until an operator approves; "proposed": waits for
   * consent or a second signal; "refused": the user refused it recently.
   */
  readonly outcome:
    | "created"
    | "merged"
    | "updated"
    | "replaced"
    | "kept"
    | "closed"
    | "rejected"
    | "quarantined"
    | "proposed"
    | "refused";
  /** The memory written, matched or kept, or null. */
  readonly id: string | null;
  /** The pending or refused request of its field, in `memory.consents`. */
  readonly consentId?: string;
  /** What was cut beyond its kind's limits. Add it as further memories. */
  readonly trimmed?: string;
  /** Of the memories with the other sentences of a long text. */
  readonly further?: readonly WriteOutcome[];
  readonly problems: readonly WritingProblem[];
  /** Why it was rejected, and what to do. */
  readonly message?: string;
}

/** "updates" and "ends" close the target; "same_as" and "adds_to" link both. Nothing is deleted. */
export interface MemoryRelation {
  readonly relation: "same_as" | "updates" | "ends" | "adds_to";
  /** The memory's id, or the place of an earlier draft in the call. */
  readonly target: string | number;
}

export interface WriteOrigin {
  readonly actor: string;
  readonly step: EventStep;
  /** The conversation, for drafts without a source. @default none */
  readonly threadId?: string | undefined;
  /** The program's call: a signal of its own where no message is known. @default unknown */
  readonly call?: string | undefined;
  /** Digest of the user's message that a tool answers: see `requireBudget`. @default no limits */
  readonly messageHash?: string | undefined;
  /** Why, redacted, for the audit trail. @default none */
  readonly reason?: string | undefined;
  /** @default none: the guard decides */
  readonly consent?: ConsentGiven | undefined;
}

/** What the drafts of one owner are decided by. */
export interface WriteContext {
  readonly owner: LockedOwner;
  readonly config: WriteConfig;
  /** Where statements are compared; null: by their words. */
  readonly comparedIn: EmbeddingSpace | null;
  readonly origin: WriteOrigin;
}
