/**
 * How work on a thread's task ended: "skipped": there was nothing to do; "deferred" to a later time; "failed", to
 * be tried again; "dead_letter": given up; "lost": another worker took it over.
 */
export type TaskStatus = "completed" | "skipped" | "deferred" | "failed" | "dead_letter" | "lost";
