import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import type { WritingProblem } from "../memories/write/writing-constraints.js";
import type { Runtime } from "../runtime.js";

/** A fact that a model proposes to remember. Nothing in it is believed before `chooseFacts` has looked at it. */
export interface FactCandidate {
  readonly category: string;
  /** With a key it is a slot: one active value for each category and key. */
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  /** 1 to 5; below 1 it is not worth keeping. */
  readonly importance: number;
  /** 0 to 1. */
  readonly confidence: number;
  /** The words it rests on, and the number of the message that has them, counted from 1. */
  readonly evidence: { readonly message: number; readonly quote: string };
  /** The user plainly corrected what was known. */
  readonly correction: boolean;
  /** Number of the known slot it is said to give a value for, counted from 1; null when it is a new one. */
  readonly updates: number | null;
}

/** A candidate that may be written. */
export interface ChosenFact {
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly importance: number;
  readonly confidence: number;
  readonly correction: boolean;
  /** Index of the message it was learned from. */
  readonly message: number;
  /** The words it rests on, as they stand in that message. */
  readonly quote: string;
  /** Whether it came longer than a memory may be, and was cut after a whole sentence. */
  readonly trimmed: boolean;
}

/** Why a candidate is not written. */
export type CandidateProblem =
  | WritingProblem
  | "other_language"
  | "unknown_category"
  | "unknown_memory"
  | "out_of_range"
  | "no_evidence"
  | "low_confidence"
  | "low_importance"
  | "duplicate"
  | "turn_cap"
  | "daily_cap";

/** A candidate that is not written. */
export interface RejectedFact {
  readonly problem: CandidateProblem;
  readonly category: string | null;
}

/** How the audit trail names who writes extracted facts. */
export const extractor = "worker:extract";

/** What making facts needs. */
export type FactsRuntime = Runtime<WriteConfig> & TaskRuntime;
