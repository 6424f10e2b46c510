import { z } from "zod";

/** Work that asks a model, with one name in the table `work`, in events, logs, usage and traces. */
const modelWorkKinds = [
  "facts",
  "summaries",
  "episodes",
  "notes",
  "compaction",
  "insights",
  "consolidation",
] as const;

export type ModelWorkKind = (typeof modelWorkKinds)[number];

export const workKinds = [...modelWorkKinds, "lifecycle", "consent-expiry", "purge"] as const;

export type WorkKind = (typeof workKinds)[number];

export const kindsField = z.array(z.enum(workKinds)).min(1).readonly().optional();

export interface Job {
  readonly kind: WorkKind;
  /** A thread or an owner; 0 for work of neither. */
  readonly ref: number;
}

export const jobName = ({ kind, ref }: Job): string =>
  ref === 0 ? `Work "${kind}"` : `Work "${kind}" of ${ref}`;
