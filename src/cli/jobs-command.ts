import { MemoryError } from "../errors.js";
import { type JobKind, jobKinds } from "../jobs/job-kinds.rule.js";
import { type JobState, jobStates, type ListedJob } from "../jobs/listed-jobs.js";
import { type CliCommand, type MemoryFlags, oneOf, pageFlags, withDatabase } from "./flags.js";
import { aligned, oneLine, print, whoseIs } from "./output.js";
import { useMemory } from "./use-memory.js";

interface JobsFlags extends MemoryFlags {
  readonly state?: JobState;
  readonly kind?: JobKind;
  readonly retry?: string | true;
  readonly limit?: number;
  readonly after?: string;
}

/** `mnemograph jobs`: background work that is not done, or trying again what failed. */
export const jobsCommand: CliCommand = {
  name: "jobs",
  description: "show the background work that waits, runs or failed, or try again what failed",
  examples: [
    ["jobs --state failed", "what failed or was given up, and why"],
    ["jobs --retry given-up-12", "or --retry --kind facts, all of that kind"],
  ],
  flags(command) {
    withDatabase(command)
      .option("--tenant <id>", "only this tenant's")
      .option("--state <state>", `only ${jobStates.join(", ")}`, oneOf(jobStates))
      .option("--kind <kind>", "only of this kind, such as facts or summaries", oneOf(jobKinds))
      .option("--retry [id]", "make this job due now; without an id all that failed of --kind");
    for (const [flags, description, read] of pageFlags("job")) {
      if (read) command.option(flags, description, read);
      else command.option(flags, description);
    }
    return command;
  },
  run: jobs,
};

/** @throws MemoryError `INVALID_INPUT`, and what `memory.jobs` throws */
async function jobs(flags: JobsFlags): Promise<void> {
  const { tenant: tenantId, state, kind, retry, limit = 1_000, after } = flags;
  const open = { ...flags, tenant: undefined };
  if (retry === undefined) {
    const found = await useMemory(open, ({ jobs }) => jobs.list({ tenantId, state, kind, limit, after }));
    return print(flags, found, () => aligned(found.map(row)).join("\n") || "There are none.");
  }
  const which = retry === true ? kind && { kind } : retry;
  if (which === undefined) throw new MemoryError("INVALID_INPUT", "--retry needs a job's id, or --kind.");
  const done = await useMemory(open, ({ jobs }) => jobs.retry(which, { tenantId }));
  print(flags, done, () => oneLine(`${done.retried} due now: workers do them.`));
}

function row({ id, kind, state, scope, threadId, attempts, error, dueAt }: ListedJob) {
  const tries = attempts === null ? "given up" : `${attempts} tries`;
  return [id, kind, state, whoseIs(scope), threadId ?? "-", tries, dueAt?.toISOString() ?? "-", error ?? ""];
}
