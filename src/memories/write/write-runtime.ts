import type { EventStep } from "../../events/event-log.js";
import type { Runtime } from "../../runtime.js";
import type { ConsentPolicy } from "../guard/consent-policy.rule.js";
import type { ConsentGiven } from "../guard/consent-request.rule.js";
import type { CategoryPolicy } from "../item/category.rule.js";
import type { MemoryOptions } from "../item/memory-options.js";
import type { WritingProblem } from "./writing-constraints.rule.js";

/** The settings that decide what is written of a memory. */
export interface WriteConfig {
  readonly memories: MemoryOptions;
  readonly policy: CategoryPolicy;
  readonly consent: ConsentPolicy;
  /** How long what was removed can be restored. */
  readonly lifecycle: { readonly purgeAfterMs: number };
}

/** What writing memories takes. */
export type WriteRuntime = Runtime<WriteConfig>;

/** What became of one draft. */
export interface WriteOutcome {
  /**
   * "created"; "merged" into one that says the same; "updated": one that says the same got this text; "replaced"
   * the value of its slot; "kept": what holds the slot is believed more; "closed": stored as past; "rejected" by
   * the writing constraints; "quarantined": stored for an operator to look at, found by nobody until approved;
   * "proposed": it waits for consent or for a second signal; "refused": the user refused it not long ago.
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
  /**
   * The end of the draft's text that was not stored, where it had more than a memory may have (two sentences, a note four,
   * the first alone where the next begins with a pronoun; 280 characters): add it as memories of their own.
   */
  readonly trimmed?: string;
  readonly problems: readonly WritingProblem[];
}

/** Who writes, for the audit trail. */
export interface WriteOrigin {
  /** "user", "worker:extract", an operator's name… */
  readonly actor: string;
  /** What its events are counted under. */
  readonly step: EventStep;
  /** The conversation that it happens in, for drafts that name no source. @default none */
  readonly threadId?: string | undefined;
  /** Tells a program's calls apart, which are signals of their own where they name no message. @default unknown */
  readonly call?: string | undefined;
  /** The user's consent to what is written. @default none: changes of sensitive fields become requests */
  readonly consent?: ConsentGiven | undefined;
  /** Whether even what users plainly said waits for their consent, whatever `consent.ask` says. @default false */
  readonly asks?: boolean | undefined;
  /** The user's whole sentences that drafts rest on, by the drafts' places. @default the quotes of their sources */
  readonly words?: ReadonlyMap<number, string> | undefined;
}
