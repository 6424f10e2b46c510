import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Scope } from "../domain/scope.js";
import { MemoryError, type MemoryErrorCode } from "../errors.js";
import type { Memory } from "../memory.js";
import type { ConsentAnswer } from "./consent-answer.js";
import { streamEvent } from "./stream-event.js";

type Decision = ConsentAnswer["decisions"][number];

/** What who answers can do better. */
const mistakes: ReadonlySet<MemoryErrorCode> = new Set(["INVALID_INPUT", "NOT_FOUND"]);
/** Somebody else decided meanwhile, or its time ran out: asking again would not help. */
const tooLate: ReadonlySet<MemoryErrorCode> = new Set([
  "CONSENT_DECIDED",
  "CONSENT_EXPIRED",
  "CONSENT_SUPERSEDED",
]);

/**
 * Does as `answer` says, and lets those of `asked` rest that it does not decide. Doing it twice does no harm: the first
 * time counts.
 *
 * @returns what of it cannot be done, and why; null when all is done.
 */
export async function applyConsentAnswer(
  memory: Memory,
  { scope, asked, answer }: { scope: Scope; asked: readonly string[]; answer: ConsentAnswer },
  config: LangGraphRunnableConfig,
): Promise<string | null> {
  const decisions = answer.decisions.filter(({ decision }) => decision !== "later");
  const results = [];
  // One after another: they take turns with their owner's lock anyway.
  for (const decision of decisions) results.push(await decideOne(memory, scope, decision));
  const problems = results.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) return problems.join("\n");

  const decided = new Set(decisions.map(({ id }) => id));
  const ids = asked.filter((id) => !decided.has(id));
  if (ids.length > 0) await memory.consents.postpone({ scope, ids });
  const outcomes = results.map(({ id, outcome }) => ({ id, outcome }));
  streamEvent(config, "consent", "ok", { outcomes, postponed: ids });
  return null;
}

async function decideOne(
  memory: Memory,
  scope: Scope,
  { id, decision, value, text }: Decision,
): Promise<{ id: string; outcome?: string; problem?: string }> {
  if (decision === "later") return { id };
  const by = { actor: scope.userId ?? "user", via: "interrupt" } as const;
  try {
    const { status } = await memory.consents.decide({ scope, id, decision, value, text, ...by });
    return { id, outcome: status };
  } catch (error) {
    if (!MemoryError.is(error)) throw error;
    if (mistakes.has(error.code)) return { id, problem: error.message };
    if (tooLate.has(error.code)) return { id, outcome: error.message };
    throw error;
  }
}
