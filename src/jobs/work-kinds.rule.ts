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

export const kindsField = z.array(z.enum(workKinds)).min(1).optional();

export interface Job {
  readonly kind: WorkKind;
  readonly ref: number;
  /** @default taken when it runs */
  readonly lease?: number | undefined;
}

/** Also a deduplication key of queued jobs. */
export const jobName = ({ kind, ref }: Job): string =>
  ref === 0 ? `Work "${kind}"` : `Work "${kind}" of ${ref}`;

const jobSchema = z.object({
  kind: z.enum(workKinds),
  ref: z.int().min(0),
  lease: z.int().optional(),
});

export const toJob = (data: unknown): Job | null => jobSchema.safeParse(data).data ?? null;
