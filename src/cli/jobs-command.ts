import { MemoryError } from "../errors.js";
import { type JobKind, jobKinds } from "../jobs/job-kinds.rule.js";
import { type JobState, jobStates, type ListedJob } from "../jobs/listed-jobs.js";
import { type CliCommand, type MemoryFlags, oneOf, pageFlags, withDatabase } from "./flags.js";
import { aligned, oneLine, print, whoseIs } from "./output.js";
import { useMemory } from "./use-memory.js";

interface JobsFlags extends MemoryFlags {
  readonly state?: JobState;
  readonly kind?: JobKind;
  readonly limit?: number;
  readonly after?: string;
}

/** `mnemograph jobs`: background work that is not done, or trying again what failed. */
export const jobsCommand: CliCommand = {
  name: "jobs",
  description: "show the background work that waits, runs or failed, or try again what failed",
  examples: [
    ["jobs list --state failed", "what failed or was given up, and why"],
    ["jobs retry given-up-12", "or jobs retry --kind facts, all that failed of that kind"],
  ],
  flags(command) {
    withDatabase(command)
      .argument("[action]", '"list", or "retry", which makes what failed due now', "list")
      .argument("[id]", "with retry: which job; without one all that failed of --kind")
      .option("--tenant <id>", "only this tenant's")
      .option("--state <state>", `only ${jobStates.join(", ")}`, oneOf(jobStates))
      .option("--kind <kind>", "only of this kind, such as facts or summaries", oneOf(jobKinds));
    for (const [flags, description, read] of pageFlags("job")) {
      if (read) command.option(flags, description, read);
      else command.option(flags, description);
    }
    return command;
  },
  run: jobs,
};

/** @throws MemoryError `INVALID_INPUT`, and what `memory.jobs` throws */
async function jobs(action: string, id: string | undefined, flags: JobsFlags): Promise<void> {
  const { tenant: tenantId, state, kind, limit = 1_000, after } = flags;
  const open = { ...flags, tenant: undefined };
  if (action === "list" && id === undefined) {
    const found = await useMemory(open, ({ jobs }) => jobs.list({ tenantId, state, kind, limit, after }));
    return print(flags, found, () => aligned(found.map(row)).join("\n") || "There are none.");
  }
  const which = id ?? (kind && { kind });
  if (action !== "retry" || which === undefined) {
    throw new MemoryError(
      "INVALID_INPUT",
      "Use `jobs list`, `jobs retry <id>`, or `jobs retry --kind <kind>`.",
    );
  }
  const done = await useMemory(open, ({ jobs }) => jobs.retry(which, { tenantId }));
  print(flags, done, () => oneLine(`${done.retried} due now: workers do them.`));
}

function row({ id, kind, state, scope, threadId, attempts, error, dueAt }: ListedJob) {
  const tries = attempts === null ? "given up" : `${attempts} tries`;
  return [id, kind, state, whoseIs(scope), threadId ?? "-", tries, dueAt?.toISOString() ?? "-", error ?? ""];
}
