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

/** What became of one draft. */
export interface WriteOutcome {
  /**
   * "merged" into one that says the same; "updated": one that says the same got this text; "replaced" the value of its
   * slot; "kept": the slot's value is believed more; "closed": stored as a past value; "rejected" by the writing
   * constraints; "quarantined": hidden until an operator approves; "proposed": waits for consent or a second signal;
   * "refused": the user refused it not long ago.
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
  /** The memory that stands for it now; null when none does. */
  readonly id: string | null;
  /** The request in `memory.consents` that it waits with, or that was refused. */
  readonly consentId?: string;
  /** The cut end of a text over 280 characters or two sentences (a note four). Add it as memories of their own. */
  readonly trimmed?: string;
  readonly problems: readonly WritingProblem[];
  /** Why it was rejected, and what to do, in sentences. */
  readonly message?: string;
}

/** "updates" and "ends" close the known memory; "same_as" and "adds_to" link both: one model answer deletes nothing. */
export interface MemoryRelation {
  readonly relation: "same_as" | "updates" | "ends" | "adds_to";
  /** Id of the known memory. */
  readonly target: string;
}

export interface WriteOrigin {
  readonly actor: string;
  readonly step: EventStep;
  /** The conversation, for drafts without a source. @default none */
  readonly threadId?: string | undefined;
  /** A program's calls are separate signals where they name no message. @default unknown */
  readonly call?: string | undefined;
  /** @default none: changes of sensitive fields become requests */
  readonly consent?: ConsentGiven | undefined;
  /** Places of the drafts that the user plainly stated of themselves, with a verified quote. @default none: all are inferred */
  readonly stated?: ReadonlySet<number> | undefined;
  /** What a model says that drafts mean for known memories, by the drafts' places. @default nothing */
  readonly relations?: ReadonlyMap<number, MemoryRelation> | undefined;
}
