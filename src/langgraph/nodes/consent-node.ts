import { interrupt, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { consentLine } from "../../consents/consent-lines.rule.js";
import { MemoryError, type MemoryErrorCode } from "../../errors.js";
import { internalApi } from "../../internal-api.js";
import type { ConsentRequest } from "../../memories/consent/consent-request.rule.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";
import {
  checkOptions,
  continueOnError,
  type OnError,
  turnOptionsSchema,
} from "../run/node-options.js";
import { runIdentity } from "../run/run-identity.js";
import { streamEvent } from "../run/run-state.js";
import {
  type AskedProposal,
  type ConsentAnswer,
  consentAnswerSchema,
  readConsentAnswer,
  reviewRequest,
} from "./consent-answer.rule.js";

export const answerMistakes: readonly MemoryErrorCode[] = ["INVALID_INPUT", "NOT_FOUND"];

/** Already decided or expired: asking again does not help. */
export const answeredTooLate: readonly MemoryErrorCode[] = ["WRONG_STATE"];

/** Postpones proposals without a decision. Idempotent: the first decision counts. */
async function applyConsentAnswer(
  memory: Memory,
  scope: Scope,
  requests: readonly ConsentRequest[],
  resumed: unknown,
) {
  const parsed = readConsentAnswer(resumed, requests);
  if ("problem" in parsed) return parsed;
  const named = new Set(parsed.decisions.map(({ id }) => id));
  const omitted = requests.filter(({ id }) => !named.has(id));
  const outcomes: { readonly id: string; readonly outcome: string }[] = [];
  const problems: string[] = [];
  const decide = async (decision: ConsentAnswer["decisions"][number]) => {
    const { id } = decision;
    try {
      const by = { actor: scope.userId ?? "user", via: "interrupt" } as const;
      const { status } = await memory.consents.decide({ scope, ...decision, ...by });
      outcomes.push({ id, outcome: status });
    } catch (error) {
      if (!MemoryError.is(error)) throw error;
      if (answerMistakes.includes(error.code)) problems.push(error.message);
      else if (answeredTooLate.includes(error.code)) outcomes.push({ id, outcome: error.message });
      else throw error;
    }
  };
  // Sequential, since each takes the owner's lock.
  for (const decision of parsed.decisions) await decide(decision);
  if (problems.length > 0) return { problem: problems.join("\n") };
  for (const { id } of omitted) await decide({ id, decision: "later" });
  return { outcomes };
}

export interface ConsentNodeOptions {
  /** Proposals asked about at once, newest first. @default 5 */
  readonly limit?: number | undefined;
  /**
   * Whether a failure ends the turn; nothing is written without consent either way.
   * @default "continue"
   */
  readonly onError?: OnError | undefined;
}

const optionsSchema = turnOptionsSchema
  .pick({ onError: true })
  .extend({ limit: z.int().min(1).max(1_000).optional() });

/** Also for LangChain's human-in-the-loop interfaces: one request for each proposal, in order. */
export interface ConsentQuestion extends ReturnType<typeof reviewRequest> {
  readonly type: "memory.consent";
  readonly question: string;
  readonly proposals: readonly AskedProposal[];
  /** What was wrong with the previous answer. */
  readonly problem?: string;
  readonly answer: object;
}

/**
 * A node that asks the user about pending consents by an interrupt, each in the thread where it
 * arose, or in the next one if it arose in none; after an invalid answer it asks again. A new
 * message in place of an answer is answered: it means "later", and the user is asked again after a
 * day.
 *
 * Resume with `new Command({ resume: { decisions: [{ id, decision: "approve" }] } })`, with
 * "approve", "refuse", "later", true or false for all, or as LangChain's human-in-the-loop (`{
 * decisions: [{ type: "approve" }] }`, in order). Needs a checkpointer; without one the proposals
 * wait. With `consent: { ask: "interrupt" }` also plain statements wait.
 * @throws MemoryError `INVALID_INPUT` for unknown options
 */
export function consentNode(memory: Memory, options: ConsentNodeOptions = {}) {
  checkOptions(memory, optionsSchema, options, "consentNode");
  return askingConsent(memory, options);
}

/** For callers that have checked the options. */
export function askingConsent(memory: Memory, { onError, limit = 5 }: ConsentNodeOptions) {
  internalApi(memory).asksConsent("interrupt");
  return async (
    _state: unknown,
    config: LangGraphRunnableConfig,
  ): Promise<Record<string, never>> => {
    await continueOnError(memory, { node: "consent", onError }, config, async () => {
      const { scope, threadId } = runIdentity(config, memory);
      const taskId = String(config.configurable?.__pregel_task_id);
      if (!config.configurable?.__pregel_checkpointer) return requireNone(memory, scope);
      const requests = await internalApi(memory).askConsents({ scope, threadId, taskId, limit });
      if (requests.length > 0) await ask(memory, scope, requests, config);
    });
    return {};
  };
}

async function requireNone(memory: Memory, scope: Scope): Promise<void> {
  const due = await memory.consents.list({ scope, due: true, limit: 1 });
  if (due.length === 0) return;
  throw new MemoryError(
    "CONSENT_REQUIRED",
    "Asking for consent by an interrupt needs a checkpointer: compile({ checkpointer: memory.checkpointer() }).",
  );
}

async function ask(
  memory: Memory,
  scope: Scope,
  requests: readonly ConsentRequest[],
  config: LangGraphRunnableConfig,
) {
  for (let problem: string | null = null; ; ) {
    // LangGraph matches answers to calls by position, so each turn asks exactly once.
    const resumed: unknown = interrupt(questionOf(requests, problem), {
      responseSchema: consentAnswerSchema,
    });
    const result = await applyConsentAnswer(memory, scope, requests, resumed);
    if (!("problem" in result)) return streamEvent(config, "consent", "ok", { ...result });
    problem = result.problem;
  }
}

function questionOf(requests: readonly ConsentRequest[], problem: string | null): ConsentQuestion {
  const proposals = requests.map((request) => ({
    id: request.id,
    proposal: consentLine(request),
    text: request.text,
    value: request.value,
    current: request.current,
    quote: request.source?.quote ?? null,
    expiresAt: request.expiresAt.toISOString(),
  }));
  return {
    type: "memory.consent",
    question: requests.length === 1 ? "May this be remembered?" : "May these be remembered?",
    proposals,
    ...(problem !== null && { problem }),
    answer: consentAnswerSchema,
    ...reviewRequest(proposals),
  };
}
