import type { JSONSchema } from "@langchain/core/utils/json_schema";
import { z } from "zod";
import { attempt, parseJson } from "../../input/plain-json.js";

const decision = z.strictObject({
  id: z.string().describe("The proposal's id."),
  decision: z
    .enum(["approve", "refuse", "later"])
    .describe('"refuse" is not asked again for a month, "later" rests for a day.'),
  value: z.string().min(1).optional().describe('With "approve": the value to remember instead.'),
  text: z.string().min(1).optional().describe('With "approve": the sentence to remember instead.'),
});

/** Omitted proposals count as "later". */
const answerSchema = z.strictObject({ decisions: z.array(decision) });

export type ConsentAnswer = z.output<typeof answerSchema>;

export const consentAnswerSchema = z.toJSONSchema(answerSchema, {
  target: "draft-7",
}) as JSONSchema & object;

export interface AskedProposal {
  readonly id: string;
  /** "city: Porto (now: Rome)". */
  readonly proposal: string;
  readonly text: string;
  readonly value: string | null;
  readonly current: string | null;
  readonly quote: string | null;
  readonly expiresAt: string;
}

/** LangChain's human-in-the-loop request, which Agent Inbox and agent-chat-ui render. */
export function reviewRequest(proposals: readonly AskedProposal[]) {
  const actionName = "remember";
  return {
    actionRequests: proposals.map(({ text, value, proposal }) => ({
      name: actionName,
      args: value === null ? { text } : { value },
      description: `May this be remembered? ${proposal}`,
    })),
    reviewConfigs: proposals.map(() => ({
      actionName,
      allowedDecisions: ["approve", "edit", "reject"] as const,
    })),
  };
}

/** Also those of LangChain's human-in-the-loop middleware and Agent Inbox. */
const decisionTypes = {
  approve: "approve",
  accept: "approve",
  refuse: "refuse",
  reject: "refuse",
  later: "later",
  ignore: "later",
} as const;
type Verdict = Omit<z.output<typeof decision>, "id">;

const namedAnswer = z
  .enum(Object.keys(decisionTypes) as (keyof typeof decisionTypes)[])
  .transform((type): Verdict => ({ decision: decisionTypes[type] }));
const either = z.boolean().transform((yes): Verdict => ({ decision: yes ? "approve" : "refuse" }));
const word = z.union([either, namedAnswer]);
const editedAnswer = z
  .object({ value: decision.shape.value, text: decision.shape.text })
  .refine(({ value, text }) => value !== undefined || text !== undefined)
  .transform((edits): Verdict => ({ decision: "approve", ...edits }));
const edit = { type: z.literal("edit"), message: z.unknown().optional() };

/** Agent Inbox sends more `args` than are read here. */
const verdict = z.union([
  word,
  z.strictObject({ decision: word }).transform((answer) => answer.decision),
  z
    .strictObject({ type: namedAnswer, args: z.unknown().optional(), message: edit.message })
    .transform((answer) => answer.type),
  z
    .strictObject({ ...edit, editedAction: z.object({ args: editedAnswer }) })
    .transform((answer) => answer.editedAction.args),
  z
    .strictObject({ ...edit, args: z.object({ args: editedAnswer }) })
    .transform((answer) => answer.args.args),
]);
const answersInOrder = z.union([
  z.array(verdict),
  z.strictObject({ decisions: z.array(verdict) }).transform(({ decisions }) => decisions),
]);

const acceptedForms =
  'Answer "approve", "refuse" or "later", true or false, { decisions: [{ id, decision: "approve" | "refuse" | "later" }] }, ' +
  "or as LangChain's human-in-the-loop.";

/**
 * Accepts decisions by id, one for all, or a list in order; text may be JSON. `problem` is for the
 * user.
 */
export function readConsentAnswer(
  resumed: unknown,
  asked: readonly Pick<AskedProposal, "id">[],
): ConsentAnswer | { readonly problem: string } {
  const answer =
    typeof resumed === "string"
      ? (attempt(() => parseJson(resumed, "The answer")) ?? resumed)
      : resumed;
  const byId = answerSchema.safeParse(answer);
  if (byId.success) {
    const ids = byId.data.decisions.map(({ id }) => id);
    const twice = ids.find((id, index) => ids.indexOf(id) < index);
    return twice === undefined ? byId.data : { problem: `Proposal "${twice}" is decided twice.` };
  }
  const { data: forAll } = verdict.safeParse(answer);
  if ((forAll?.value ?? forAll?.text) !== undefined && asked.length !== 1)
    return { problem: `Name the proposal to change. ${acceptedForms}` };
  const each = forAll ? asked.map(() => forAll) : answersInOrder.safeParse(answer).data;
  if (!each) return { problem: acceptedForms };
  if (each.length !== asked.length) {
    const counts = `There are ${asked.length} proposals and ${each.length} decisions`;
    return { problem: `${counts}: give one for each, in order.` };
  }
  return { decisions: asked.map(({ id }, at) => ({ id, ...(each[at] as Verdict) })) };
}
