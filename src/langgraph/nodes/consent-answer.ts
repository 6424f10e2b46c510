import { z } from "zod";

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
export const consentAnswerSchema = z.toJSONSchema(answerSchema, { target: "draft-7" });

/** `resumed` as an answer, or what is wrong with it. Text is read as JSON: that is what Studio's input gives. */
export function parseConsentAnswer(
  resumed: unknown,
): { readonly answer: ConsentAnswer } | { readonly problem: string } {
  const parsed = answerSchema.safeParse(typeof resumed === "string" ? fromJson(resumed) : resumed);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  const ids = parsed.data.decisions.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  return twice === undefined ? { answer: parsed.data } : { problem: `Proposal "${twice}" is decided twice.` };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
