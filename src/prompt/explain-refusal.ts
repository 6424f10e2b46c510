import type { InjectAs } from "./turn-messages.js";

/** What servers say of two messages of one role in a row, or of a message's `name`. */
const refusals = [
  /\balternat\w*\b.{0,60}\b(?:user|assistant)\b/is,
  /\bsuccessive user\b/i,
  /^(?=.*\b(?:not permitted|not supported|unsupported|unknown)\b).*\bmessages\b.{0,80}\bname\b/is,
];

const advice =
  'The server refuses memory as a message of its own: pass `injectAs: "text"`, so that it begins the user\'s text.';

/** A model's `answer`. The error of a server that refused memory's messages names the option. */
export async function withAdvice<Answer>(
  answer: PromiseLike<Answer> | Answer,
  injectAs: InjectAs | undefined,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const isRefusal =
      error instanceof Error && refusals.some((refusal) => refusal.test(error.message));
    // LangChain's retries and fallbacks read the error's other fields.
    if (isRefusal && injectAs !== "text" && !error.message.includes(advice))
      error.message += `\n${advice}`;
    throw error;
  }
}
