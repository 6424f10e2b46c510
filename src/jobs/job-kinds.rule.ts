/** What a job does, by the queue of its kind. */
export const kindOfWork = {
  summarize: "summaries",
  extract: "facts",
  compress: "episodes",
  note: "notes",
  compact: "compaction",
  insights: "insights",
  consolidate: "consolidation",
  lifecycle: "lifecycle",
  consents: "consent-expiry",
  // Tidying up: what is old is deleted for good.
  changes: "purge",
  usage: "purge",
  items: "purge",
  pairs: "purge",
} as const;

/** The name of work that a queue can hold. */
export type WorkName = keyof typeof kindOfWork;

/** A kind of background work: each has a queue of its own. */
export type JobKind = (typeof kindOfWork)[WorkName];

/** All kinds, in the order of the table above. */
export const jobKinds: readonly JobKind[] = [...new Set(Object.values(kindOfWork))];

/**
 * What a queue keeps of a job: where the work lies, and nothing of what was said. The tables say whether it is still due.
 */
export interface JobTicket {
  readonly work: WorkName;
  /** The thread, owner or summary in question. @default the work is of nobody in particular */
  readonly ref?: number;
  /** The lease that a summary was made with, which its job goes on with. @default the job takes a lease when it runs */
  readonly attempt?: number;
}

/** What makes two tickets the same job: of one that waits, a second is not queued. */
export function keyOfTicket({ work, ref }: JobTicket): string {
  return ref === undefined ? work : `${work} ${ref}`;
}

/** What a queue gave back, where it is a ticket: another version may have written it. */
export function toTicket(data: unknown): JobTicket | null {
  const { work, ref, attempt } = (data ?? {}) as Partial<Record<keyof JobTicket, unknown>>;
  if (typeof work !== "string" || !Object.hasOwn(kindOfWork, work)) return null;
  return {
    work: work as WorkName,
    ...(Number.isSafeInteger(ref) && { ref: ref as number }),
    ...(Number.isSafeInteger(attempt) && { attempt: attempt as number }),
  };
}
