import { errorLine } from "../logger.js";
import { memoryInstructs } from "../memories/write/writing-constraints.rule.js";
import type { Asking } from "../models/call-structured.js";
import { retryAfterMs } from "../models/provider-error.js";
import type { Scope } from "../scope/scope.js";
import { defineWork } from "../work/define-work.js";
import type { JobStatus } from "../work/settle-failure.js";
import { LeaseLost } from "../work/work-table.js";
import { type Applied, applyCompaction, type Compacting } from "./apply-compaction.js";
import { askCompaction } from "./ask-compaction.js";
import { type CompactionDecision, deleteOldest, readDecision } from "./compaction-decision.rule.js";
import { type CompactionWork, loadCompaction } from "./load-compaction.js";
import type { NotesRuntime } from "./load-note.js";
import { leavesNotes } from "./notes-options.js";
import { retryOnce } from "./save-note.js";

export interface Compacted {
  decision: CompactionDecision | null;
  applied: Applied | null;
}

/**
 * Removes one note of an app over its limit: load → ask → check (redacts) → save. The lease admits one worker of all processes. A failed or invalid decision deletes the
 * oldest removable note.
 */
export function defineCompaction(deps: NotesRuntime) {
  const { notes, upkeep } = deps.config;
  return defineWork<CompactionWork, Compacted>(
    {
      kind: "compaction",
      of: "owner",
      policy: { enabled: leavesNotes(notes), tries: upkeep, op: "delete", waits: true },
      fresh: { decision: null, applied: null },
      steps: {
        // The notes of an app over its limit.
        load: (claim) => loadCompaction(deps, claim),
        // Which one goes, or which two become one; unless that is valid, the oldest goes.
        ask: async ({ work }, { asking }) => ({ decision: await decide(deps, work, asking) }),
        check: async ({ decision }) => ({
          decision: decision && { ...decision, reason: await deps.redactor.text(decision.reason) },
        }),
        save: async ({ claim, work, decision }) => ({
          applied: decision && (await applyOrDeleteOldest(deps, { claim, work, decision })),
        }),
      },
    },
    deps,
  );
}

/** Compacts until a try does not complete. */
export async function compactNotes(
  { runJob }: Pick<ReturnType<typeof defineCompaction>, "runJob">,
  owner: Scope,
): Promise<void> {
  let status: JobStatus = "completed";
  while (status === "completed") ({ status } = await runJob({ scope: owner }));
}

/** Beyond this, after an import or a lower limit, the oldest go without the model. */
const maxOverForModel = 10;

async function decide(
  deps: NotesRuntime,
  work: CompactionWork,
  asking: Asking,
): Promise<CompactionDecision> {
  const { notes, app } = work;
  const over = notes.length - app.limit;
  if (over > maxOverForModel)
    return deleteOldest(notes, `The oldest of ${notes.length} notes, ${over} too many.`);
  try {
    const decision = readDecision(await askCompaction(deps, work, asking), notes);
    if (!("invalid" in decision) && !(await containsInstructions(deps, decision))) return decision;
    const why = "invalid" in decision ? decision.invalid : "the merged text reads as instructions";
    return fallBack(deps, work, `The model's decision is invalid: ${why}.`);
  } catch (error) {
    if (retryAfterMs(error) !== null) throw error;
    return fallBack(deps, work, errorLine(error));
  }
}

/** Whether the merged text, which all users see, instructs. */
async function containsInstructions(
  { screen }: NotesRuntime,
  decision: CompactionDecision,
): Promise<boolean> {
  return (
    decision.action === "edit" &&
    memoryInstructs(screen, { ...decision.target, text: decision.text })
  );
}

function fallBack({ logger }: NotesRuntime, work: CompactionWork, why: string): CompactionDecision {
  const { appId } = work.scope;
  logger.error(`❌ ${compactionFailed(work)}: ${why} The oldest one goes instead.`, {
    appId,
    step: "compaction",
  });
  return deleteOldest(work.notes, `The oldest note, in the place of a decision: ${why}`);
}

const compactionFailed = ({ scope }: CompactionWork) =>
  `Memory compaction failed for app ${scope.appId}`;

/** Applies `decision`, or deletes the oldest note on an error that a retry does not cure. */
async function applyOrDeleteOldest(deps: NotesRuntime, input: Compacting): Promise<Applied> {
  const { work, decision } = input;
  try {
    return await retryOnce(deps.logger, compactionFailed(work), () => applyCompaction(deps, input));
  } catch (error) {
    if (decision.by === "oldest" || error instanceof LeaseLost) throw error;
    return applyCompaction(deps, { ...input, decision: fallBack(deps, work, errorLine(error)) });
  }
}
