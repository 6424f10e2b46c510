import type { JSONSchema } from "@langchain/core/utils/json_schema";
import { z } from "zod";
import { consentQuote } from "../../consents/consent-quote.rule.js";

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
type Decision = ConsentAnswer["decisions"][number];

/** The same as JSON schema, for interfaces that make a form of it. */
export const consentAnswerSchema = z.toJSONSchema(answerSchema, { target: "draft-7" }) as JSONSchema & object;

/** A proposal as the user is asked about it. */
export interface AskedProposal {
  readonly id: string;
  readonly text: string;
  readonly value: string | null;
  /** In plain words. */
  readonly proposal: string;
}

/** What the action of LangChain's human-in-the-loop request is called. */
const actionName = "remember";

/** `proposals` as LangChain's human-in-the-loop request, which Agent Inbox and agent-chat-ui draw. */
export function reviewRequest(proposals: readonly AskedProposal[]) {
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

type Parsed = ConsentAnswer | { readonly problem: string };
type Verdict = Omit<Decision, "id">;

/** What people and interfaces call each decision. */
const words: ReadonlyMap<string, Decision["decision"]> = new Map([
  ...["approve", "approved", "accept", "accepted", "agree", "allow", "yes", "y", "ok", "okay", "true"].map(
    (word) => [word, "approve"] as const,
  ),
  ...["refuse", "refused", "reject", "rejected", "decline", "deny", "no", "n", "nope", "false"].map(
    (word) => [word, "refuse"] as const,
  ),
  ...["later", "ignore", "skip", "postpone"].map((word) => [word, "later"] as const),
]);

/**
 * What `resumed` decides about `asked`: an answer by ids; "yes", true, `{ decision: "approve" }` for all of them; or LangChain's
 * human-in-the-loop responses in their order, as an object with `decisions`, as a list, or alone. Text may be JSON.
 *
 * @returns `problem`, for whoever answers, where it cannot be told what was decided.
 */
export function readConsentAnswer(resumed: unknown, asked: readonly Pick<AskedProposal, "id">[]): Parsed {
  const answer = typeof resumed === "string" ? fromJson(resumed) : resumed;
  const listed = Array.isArray(answer) ? answer : propertyOf(answer, "decisions");
  if (!Array.isArray(listed)) {
    const verdict = verdictOf(answer);
    return verdict ? forAll(verdict, asked) : strictly(answer);
  }
  const isById = listed.some((each) => propertyOf(each, "id") !== undefined);
  if (isById || listed.length === 0) return strictly({ decisions: listed });
  const verdicts = listed.map(verdictOf);
  const odd = verdicts.indexOf(null);
  if (odd >= 0) return { problem: `Decision ${odd + 1} is none: ${forms}` };
  const [only] = verdicts;
  if (verdicts.length === 1 && only) return forAll(only, asked);
  if (verdicts.length !== asked.length) {
    return {
      problem: `There are ${asked.length} proposals and ${verdicts.length} decisions: give one for each, in order.`,
    };
  }
  return { decisions: verdicts.map((verdict, at) => ({ ...(verdict as Verdict), id: asked[at]?.id ?? "" })) };
}

const forms =
  'answer "yes", "no" or "later", or { decisions: [{ id, decision: "approve"|"refuse"|"later" }] }.';

function strictly(answer: unknown): Parsed {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) return { problem: `${z.prettifyError(parsed.error)}\nOtherwise ${forms}` };
  const ids = parsed.data.decisions.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  return twice === undefined ? parsed.data : { problem: `Proposal "${twice}" is decided twice.` };
}

function forAll(verdict: Verdict, asked: readonly Pick<AskedProposal, "id">[]): Parsed {
  const isEdited = verdict.value !== undefined || verdict.text !== undefined;
  if (isEdited && asked.length !== 1) {
    return {
      problem: `Which of the ${asked.length} proposals is to be changed? Name its id, or decide each in order.`,
    };
  }
  return { decisions: asked.map(({ id }) => ({ ...verdict, id })) };
}

/** One decision, whatever its form; null where it is none. */
function verdictOf(answer: unknown): Verdict | null {
  if (typeof answer === "boolean") return { decision: answer ? "approve" : "refuse" };
  if (typeof answer === "string") return spoken(answer);
  const named = propertyOf(answer, "decision") ?? propertyOf(answer, "type");
  if (typeof named === "boolean") return verdictOf(named);
  return typeof named === "string" ? typed(named.trim().toLowerCase(), answer) : null;
}

/** The decision called `name`, with what else `answer` says of it. */
function typed(name: string, answer: unknown): Verdict | null {
  const args = propertyOf(answer, "args");
  // Agent Inbox has words of the user in `args`.
  if (name === "response") return typeof args === "string" ? spoken(args) : null;
  const edited = propertyOf(answer, "editedAction") ?? args;
  if (name === "edit") return editedTo(propertyOf(edited, "args") ?? edited);
  const decision = words.get(name);
  if (decision === undefined) return null;
  return (decision === "approve" ? editedTo(answer) : null) ?? { decision };
}

/** A person's words: one that means a decision, or a sentence that plainly agrees, in any of some fifty languages. */
function spoken(answer: string): Verdict | null {
  const known = words.get(
    answer
      .trim()
      .toLowerCase()
      .replace(/[.!]+$/, ""),
  );
  if (known) return { decision: known };
  return consentQuote(answer, answer, "approve") === null ? null : { decision: "approve" };
}

/** What the user made of a proposal is what they approve; null where nothing is there. */
function editedTo(args: unknown): Verdict | null {
  const of = (name: string) => {
    const value = propertyOf(args, name);
    return typeof value === "string" && value.trim() !== "" ? { [name]: value } : {};
  };
  const edits: { value?: string; text?: string } = { ...of("value"), ...of("text") };
  return Object.keys(edits).length === 0 ? null : { decision: "approve", ...edits };
}

function propertyOf(object: unknown, name: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Record<string, unknown>)[name];
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
