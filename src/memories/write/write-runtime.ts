import type { EventStep } from "../../events/event-log.js";
import type { InsightsDue } from "../../jobs/work-table.js";
import type { Runtime } from "../../runtime.js";
import type { ConsentPolicy } from "../guard/consent-policy.rule.js";
import type { ConsentGiven } from "../guard/consent-request.rule.js";
import type { CategoryPolicy } from "../item/category.rule.js";
import type { MemoryOptions } from "../item/memory-options.js";
import type { WritingProblem } from "./writing-constraints.rule.js";

export interface WriteConfig {
  readonly memories: MemoryOptions;
  readonly policy: CategoryPolicy;
  readonly consent: ConsentPolicy;
  readonly lifecycle: { readonly purgeAfterMs: number };
  readonly insights: InsightsDue;
}

export type WriteRuntime = Runtime<WriteConfig>;

/** The result for one draft. */
export interface WriteOutcome {
  /**
   * "merged" into an equal memory; "updated": an equal memory got this text; "replaced" the value of its slot; "kept":
   * the slot's value ranks higher; "closed": stored as a past value; "rejected" by the writing constraints;
   * "quarantined": hidden until an operator approves; "proposed": waits for consent or a second signal; "refused": the
   * user refused it recently.
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
  /** The memory that has its content now, or null. */
  readonly id: string | null;
  /** Its pending or refused request in `memory.consents`. */
  readonly consentId?: string;
  /** The cut end of a text over 280 characters or two sentences (a note four). Add it as further memories. */
  readonly trimmed?: string;
  readonly problems: readonly WritingProblem[];
  /** Why it was rejected, and what to do. */
  readonly message?: string;
}

/** "updates" and "ends" close the target; "same_as" and "adds_to" link both. Nothing is deleted. */
export interface MemoryRelation {
  readonly relation: "same_as" | "updates" | "ends" | "adds_to";
  readonly target: string;
}

export interface WriteOrigin {
  readonly actor: string;
  readonly step: EventStep;
  /** The conversation, for drafts without a source. @default none */
  readonly threadId?: string | undefined;
  /** Separate calls without a message are separate signals. @default unknown */
  readonly call?: string | undefined;
  /** @default none: changes of sensitive fields become requests */
  readonly consent?: ConsentGiven | undefined;
  /** Indexes of drafts that the user plainly stated, with a verified quote. @default none: all are inferred */
  readonly stated?: ReadonlySet<number> | undefined;
  /** A model's relations of drafts to existing memories, by draft index. @default none */
  readonly relations?: ReadonlyMap<number, MemoryRelation> | undefined;
}
