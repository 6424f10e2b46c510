import { episodeRange, type TurnRange } from "../domain/episode-range.js";
import type { Scope } from "../domain/scope.js";
import type { ThreadTaskClaim } from "../store/claim-thread-task.js";
import { findCompressionWork } from "../store/find-compression-work.js";
import { findTurnMessages, type TurnMessage } from "../store/find-turn-messages.js";
import { completeThreadTask } from "../store/settle-thread-task.js";
import { limitMaterial } from "./limit-material.js";
import type { TaskStatus } from "./task-status.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

/** A stretch of turns to become an episode. */
export interface EpisodeWork {
  readonly scope: Scope;
  readonly threadId: string;
  readonly turns: TurnRange;
  /** What users and assistants said in them, in order. */
  readonly messages: TurnMessage[];
  /** Whether the thread has another stretch to compress after this one. */
  readonly more: boolean;
}

/** What `claim` is about, or how it ended: no stretch of turns is due, or nothing was said in it. */
export async function loadCompression(
  deps: UpkeepDeps,
  claim: ThreadTaskClaim,
): Promise<EpisodeWork | TaskStatus> {
  const { memories } = deps.config;
  const thread = await findCompressionWork(deps.db, claim);
  if (!thread) return "lost";
  const turns = episodeRange(thread.turns, claim.doneUntil, memories);
  if (!turns) return skip(deps, claim, { doneUntil: claim.doneUntil, more: false });

  const messages = await findTurnMessages(deps.db, { threadRef: claim.threadRef, ...turns });
  const more = episodeRange(thread.turns, turns.end, memories) !== null;
  const said = messages.filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  if (said.length === 0) return skip(deps, claim, { doneUntil: turns.end, more });
  const { scope, threadId } = thread;
  const { messages: limited } = await limitMaterial(
    deps,
    { scope, threadId, step: "compress" },
    said,
    deps.config.upkeep,
  );
  return { scope, threadId, turns, messages: limited, more };
}

async function skip(
  { db }: UpkeepDeps,
  claim: ThreadTaskClaim,
  result: { doneUntil: number; more: boolean },
): Promise<TaskStatus> {
  return (await completeThreadTask(db, claim, result)) ? "skipped" : "lost";
}
