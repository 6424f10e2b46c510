import type { JSONSchema } from "@langchain/core/utils/json_schema";
import { interrupt, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { consentLine } from "../../consents/consent-lines.js";
import { MemoryError, type MemoryErrorCode } from "../../errors.js";
import type { ConsentRequest } from "../../memories/guard/consent-request.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";
import { streamEvent } from "../run/memory-state.js";
import { checkOptions, continueOnError, type OnError, sharedOptions } from "../run/node-options.js";
import { claimRun } from "./claim-run.js";
import { type ConsentAnswer, consentAnswerSchema, parseConsentAnswer } from "./consent-answer.js";

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
async function applyConsentAnswer(
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

/** How a consent node behaves. */
export interface ConsentNodeOptions {
  /** Proposals asked about at once, newest first. @default 5 */
  readonly limit?: number | undefined;
  /** Whether a failure ends the turn; nothing is written without consent either way. @default "continue" */
  readonly onError?: OnError | undefined;
}

const optionsSchema = sharedOptions
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
  return async (_state: unknown, config: LangGraphRunnableConfig): Promise<Record<string, never>> => {
    return continueOnError(
      memory,
      options.onError ?? "continue",
      "consent",
      config,
      async () => {
        const { scope } = (await claimRun(memory, [], config)).identity;
        // A node that was interrupted runs again from its start: the list may be another one by then, so answers go by id.
        const requests = await memory.consents.list({
          ...{ scope, due: true, limit: options.limit ?? 5 },
        });
        if (requests.length === 0) return {};
        requireCheckpointer(config);
        await ask(memory, scope, requests, config);
        return {};
      },
      {},
    );
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
      responseSchema: consentAnswerSchema as JSONSchema,
    });
    const parsed = parseConsentAnswer(resumed);
    if ("problem" in parsed) problem = parsed.problem;
    else problem = await applyConsentAnswer(memory, { scope, asked, answer: parsed.answer }, config);
    if (problem === null) return;
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
