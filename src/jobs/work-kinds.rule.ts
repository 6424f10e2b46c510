import { z } from "zod";

/** The kinds of background work, by the word that `status`, `jobs`, queues, flags and HTTP have for each. */
export const workKinds = [
  "summaries",
  "facts",
  "episodes",
  "notes",
  "compaction",
  "insights",
  "consolidation",
  "lifecycle",
  "consent-expiry",
  "purge",
] as const;

/** A kind of background work. */
export type WorkKind = (typeof workKinds)[number];

/** Kinds as callers name them. */
export const kindsField = z.array(z.enum(workKinds)).min(1).optional();

/** A piece of background work as it is started and queued: where it is, and nothing of what was said. */
export interface Job {
  readonly kind: WorkKind;
  /** The thread or the owner that it is about; 0 where it is about nobody in particular. */
  readonly ref: number;
  /** The lease that it goes on with. @default it takes one when it runs */
  readonly lease?: number | undefined;
}

/** What makes two jobs the same, of which one is queued; log lines call it so. */
export function jobName({ kind, ref }: Job): string {
  return ref === 0 ? `Work "${kind}"` : `Work "${kind}" of ${ref}`;
}

const jobSchema = z.object({
  kind: z.enum(workKinds),
  ref: z.int().min(0),
  lease: z.int().optional(),
});

/** What a queue gave back, where it is a job: another version may have written it. */
export function toJob(data: unknown): Job | null {
  return jobSchema.safeParse(data).data ?? null;
}
