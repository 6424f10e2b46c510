import type { JSONSchema } from "@langchain/core/utils/json_schema";
import { z } from "zod";
import { MemoryError, type MemoryErrorCode } from "../../errors.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";

const decision = z.strictObject({
  id: z.string().describe("The proposal's id."),
  decision: z
    .enum(["approve", "refuse", "later"])
    .describe('"refuse" is not asked again for a month, "later" rests for a day.'),
  value: z.string().min(1).optional().describe('With "approve": the value to remember instead.'),
  text: z.string().min(1).optional().describe('With "approve": the sentence to remember instead.'),
});

/** What a consent interrupt is resumed with. Proposals that it leaves out rest as with "later". */
const answerSchema = z.strictObject({ decisions: z.array(decision) });

/** An answer to a consent interrupt. */
export type ConsentAnswer = z.output<typeof answerSchema>;

/** The same as JSON schema, for interfaces that make a form of it. */
export const consentAnswerSchema = z.toJSONSchema(answerSchema, { target: "draft-7" }) as JSONSchema & object;

/** What whoever answers can do better. */
export const answerMistakes: ReadonlySet<MemoryErrorCode> = new Set(["INVALID_INPUT", "NOT_FOUND"]);

/** Somebody else decided meanwhile, or the time ran out: asking again would not help. */
export const answeredTooLate: ReadonlySet<MemoryErrorCode> = new Set([
  "CONSENT_DECIDED",
  "CONSENT_EXPIRED",
  "CONSENT_SUPERSEDED",
]);

/** What an answer did; or what is wrong with it, for whoever answers. */
export type AnswerResult =
  | {
      readonly outcomes: readonly { id: string; outcome: string | undefined }[];
      readonly postponed: readonly string[];
    }
  | { readonly problem: string };

/**
 * Does as `resumed` says, and lets those of `asked` rest that it does not decide. Doing it twice does no harm: the first
 * time counts.
 *
 * @param resumed an answer, or the text of one as JSON: that is what Studio's input gives.
 */
export async function applyConsentAnswer(
  memory: Memory,
  { scope, asked, resumed }: { scope: Scope; asked: readonly string[]; resumed: unknown },
): Promise<AnswerResult> {
  const parsed = parseConsentAnswer(resumed);
  if ("problem" in parsed) return parsed;
  const decisions = parsed.decisions.filter(({ decision }) => decision !== "later");
  const results = [];
  // One after another: they take turns with their owner's lock anyway.
  for (const decision of decisions) results.push(await decideOne(memory, scope, decision));
  const problems = results.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) return { problem: problems.join("\n") };

  const decided = new Set(decisions.map(({ id }) => id));
  const postponed = asked.filter((id) => !decided.has(id));
  if (postponed.length > 0) await memory.consents.postpone({ scope, ids: postponed });
  return { outcomes: results.map(({ id, outcome }) => ({ id, outcome })), postponed };
}

function parseConsentAnswer(resumed: unknown): ConsentAnswer | { readonly problem: string } {
  const parsed = answerSchema.safeParse(typeof resumed === "string" ? fromJson(resumed) : resumed);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  const ids = parsed.data.decisions.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  return twice === undefined ? parsed.data : { problem: `Proposal "${twice}" is decided twice.` };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function decideOne(
  memory: Memory,
  scope: Scope,
  { id, decision, value, text }: ConsentAnswer["decisions"][number],
): Promise<{ id: string; outcome?: string; problem?: string }> {
  if (decision === "later") return { id };
  const by = { actor: scope.userId ?? "user", via: "interrupt" } as const;
  try {
    const { status } = await memory.consents.decide({ scope, id, decision, value, text, ...by });
    return { id, outcome: status };
  } catch (error) {
    if (!MemoryError.is(error)) throw error;
    if (answerMistakes.has(error.code)) return { id, problem: error.message };
    if (answeredTooLate.has(error.code)) return { id, outcome: error.message };
    throw error;
  }
}
