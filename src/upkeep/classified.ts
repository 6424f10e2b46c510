import type { WriteOutcome } from "../remember/write-memories.js";
import type { MemoryEvent } from "../store/insert-event.js";

/** What the event of a model's proposal says about its outcome. */
export function classified(
  outcome: WriteOutcome | undefined,
  trimmed: boolean,
): Pick<MemoryEvent, "status" | "detail"> {
  if (outcome?.outcome === "rejected" || outcome?.outcome === "quarantined") {
    return { status: "skipped", detail: outcome.problems[0] };
  }
  return { status: "ok", detail: trimmed ? `${outcome?.outcome}, trimmed` : outcome?.outcome };
}
