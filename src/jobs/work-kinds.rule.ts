import { z } from "zod";

export const workKinds = [
  ...(["facts", "summaries", "episodes", "notes", "compaction", "insights", "consolidation"] as const),
  ...(["lifecycle", "consent-expiry", "purge"] as const),
] as const;

export type WorkKind = (typeof workKinds)[number];

export const kindsField = z.array(z.enum(workKinds)).min(1).optional();

/** A piece of background work as it is started and queued, without words of a conversation. */
export interface Job {
  readonly kind: WorkKind;
  /** A thread or an owner; 0 for neither. */
  readonly ref: number;
  /** @default it takes one when it runs */
  readonly lease?: number | undefined;
}

/** Also the key of queued jobs: equal names are one job. */
export function jobName({ kind, ref }: Job): string {
  return ref === 0 ? `Work "${kind}"` : `Work "${kind}" of ${ref}`;
}

const jobSchema = z.object({ kind: z.enum(workKinds), ref: z.int().min(0), lease: z.int().optional() });

/** Null for a job that another version wrote in another form. */
export function toJob(data: unknown): Job | null {
  return jobSchema.safeParse(data).data ?? null;
}
