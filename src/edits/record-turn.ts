import {
  type RecordConfig,
  type RecordedTurn,
  type RecordInput,
  record,
} from "../conversation/record.js";
import { insertEvents } from "../events/event-log.js";
import type { Runtime } from "../runtime.js";
import { lockOwner } from "../scope/scope-predicates.js";
import { type EditRuntime, inTransaction } from "./close-edited.js";
import { recordEdits } from "./record-edits.js";

type RecordDue = NonNullable<Parameters<typeof record>[2]>;

/**
 * `record`, and the new words of recorded messages that were edited: in a transaction of its own,
 * since few turns have one.
 */
export async function recordTurn(
  deps: EditRuntime & Pick<Runtime<RecordConfig>, "config" | "redactor" | "describer">,
  input: RecordInput,
  due: RecordDue = {},
): Promise<RecordedTurn> {
  const turn = await record(deps, input, due);
  if (turn.edits.length === 0) return turn;
  const { scope, threadId } = input;
  const isUnread = await inTransaction(deps, async (tx) => {
    const { ref: ownerRef } = await lockOwner(tx, scope);
    const extracts = due.extract !== undefined;
    const recording = { ...turn, scope, threadId, ownerRef, actor: "edit", extracts };
    const { count, isUnread } = await recordEdits(deps, tx, recording);
    const event = { scope, threadId, step: "remember", op: "update", status: "ok" } as const;
    await insertEvents(tx, Array(count).fill({ ...event, detail: "edited" }));
    return isUnread;
  });
  // The counts of before include summaries and episodes that are gone.
  const { recorded, closed, extractInMs, edits, messages, summarisedByOthers } = turn;
  const now = await record(deps, { scope, threadId, messages: [] });
  const kept = { recorded, closed, edits, messages, summarisedByOthers };
  return { ...now, ...kept, extractInMs: isUnread ? 0 : extractInMs };
}
