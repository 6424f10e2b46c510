import { interrupt, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { consentLine } from "../../consents/consent-lines.js";
import { MemoryError } from "../../errors.js";
import type { ConsentRequest } from "../../memories/guard/consent-request.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";
import { streamEvent } from "../run/memory-state.js";
import { checkOptions, continueOnError, type OnError, roundOptions } from "../run/node-options.js";
import { claimRun } from "./claim-run.js";
import { applyConsentAnswer, consentAnswerSchema } from "./consent-answer.js";

/** How a consent node behaves. */
export interface ConsentNodeOptions {
  /** Proposals asked about at once, newest first. @default 5 */
  readonly limit?: number | undefined;
  /** Whether a failure ends the turn; nothing is written without consent either way. @default "continue" */
  readonly onError?: OnError | undefined;
}

const optionsSchema = roundOptions
  .pick({ onError: true })
  .extend({ limit: z.int().min(1).max(1_000).optional() });

/** What the user is asked: the value of the interrupt. */
export interface ConsentQuestion {
  readonly type: "memory.consent";
  readonly question: string;
  readonly proposals: readonly {
    readonly id: string;
    /** In plain words: "city: Porto (now: Rome)". */
    readonly proposal: string;
    /** The sentence that would be remembered. */
    readonly text: string;
    readonly value: string | null;
    readonly current: string | null;
    /** The words it was learned from. */
    readonly quote: string | null;
    readonly expiresAt: string;
  }[];
  /** What was wrong with the answer before this one. */
  readonly problem?: string;
  /** JSON schema of the answer. */
  readonly answer: object;
}

/**
 * A node that asks the user, by an interrupt, about what waits for consent, and does as the answer says. It passes
 * where nothing waits. An answer that cannot be used is asked for again, with what is wrong with it.
 *
 * Resume with `new Command({ resume: { decisions: [{ id, decision: "approve" }] } })`. Needs a checkpointer; without one
 * nobody is asked, and the proposals wait on.
 *
 * @throws MemoryError `INVALID_INPUT` for options that there are not.
 */
export function consentNode(memory: Memory, options: ConsentNodeOptions = {}) {
  checkOptions(memory, optionsSchema, options, "consentNode");
  return askingConsent(memory, options);
}

/** The same node, of a way in that has checked its options. */
export function askingConsent(memory: Memory, { onError, limit = 5 }: ConsentNodeOptions) {
  return async (_state: unknown, config: LangGraphRunnableConfig): Promise<Record<string, never>> => {
    await continueOnError(memory, { node: "consent", onError }, config, async () => {
      const { scope } = (await claimRun(memory, [], config)).identity;
      // A node that was interrupted runs again from its start: the list may be another one by then, so answers go by id.
      const requests = await memory.consents.list({ scope, due: true, limit });
      if (requests.length === 0) return;
      requireCheckpointer(config);
      await ask(memory, scope, requests, config);
    });
    return {};
  };
}

async function ask(
  memory: Memory,
  scope: Scope,
  requests: readonly ConsentRequest[],
  config: LangGraphRunnableConfig,
): Promise<void> {
  const asked = requests.map(({ id }) => id);
  for (let problem: string | null = null; ; ) {
    // LangGraph gives each call the answer of the same place in line, so each round asks exactly once.
    const resumed: unknown = interrupt(questionOf(requests, problem), {
      responseSchema: consentAnswerSchema,
    });
    const result = await applyConsentAnswer(memory, { scope, asked, resumed });
    if (!("problem" in result)) return streamEvent(config, "consent", "ok", { ...result });
    problem = result.problem;
  }
}

function questionOf(requests: readonly ConsentRequest[], problem: string | null): ConsentQuestion {
  return {
    type: "memory.consent",
    question: requests.length === 1 ? "May this be remembered?" : "May these be remembered?",
    proposals: requests.map((request) => ({
      id: request.id,
      proposal: consentLine(request),
      ...{ text: request.text, value: request.value, current: request.current },
      quote: request.source?.quote ?? null,
      expiresAt: request.expiresAt.toISOString(),
    })),
    ...(problem !== null && { problem }),
    answer: consentAnswerSchema,
  };
}

function requireCheckpointer(config: LangGraphRunnableConfig): void {
  if (config.configurable?.__pregel_checkpointer) return;
  throw new MemoryError(
    "CHECKPOINTER_REQUIRED",
    "Asking for consent by an interrupt needs a checkpointer: compile({ checkpointer: memory.checkpointer() }).",
  );
}
