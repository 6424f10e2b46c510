import { z } from "zod";
import { consentQuote } from "../domain/consent-quote.js";
import type { ConsentRequest } from "../domain/consent-request.js";
import { parseScoped, type Scope, scopeField } from "../domain/scope.js";
import { parseThreadId } from "../domain/thread-id.js";
import { MemoryError } from "../errors.js";
import type { WriteDeps } from "../remember/write-memories.js";
import { findUserWords } from "../store/find-user-words.js";
import { decideConsent } from "./decide-consent.js";

/** What a user wrote in a round that is not recorded yet. */
interface UnrecordedWords {
  readonly messageId?: string | undefined;
  readonly text: string;
}

/** A decision that a user made in conversation. */
export interface ConsentAcknowledgement {
  readonly scope: Scope;
  readonly threadId: string;
  readonly id: string;
  readonly decision: "approve" | "refuse";
  /** The user's words that say so: whole sentences. */
  readonly quote: string;
  /** What the user wrote in the round under way, the latest last; of what is recorded, the transcript is asked. */
  readonly said?: readonly UnrecordedWords[] | undefined;
  /** Whether the round began after the request was made. @default whether anything was recorded in the thread since */
  readonly shown?: boolean | undefined;
}

const acknowledgementSchema = z.strictObject({
  scope: scopeField,
  threadId: z.unknown(),
  id: z.string(),
  decision: z.enum(["approve", "refuse"]),
  quote: z.string(),
  said: z.array(z.strictObject({ messageId: z.string().optional(), text: z.string() })).optional(),
  shown: z.boolean().optional(),
});

/**
 * Decides a request by what its user wrote last in a thread, after it was made: the quote must be that message, or whole
 * sentences of it, that agree or refuse; see `consentQuote`.
 *
 * @throws MemoryError `INVALID_INPUT` when it does not, and all that `decideConsent` throws.
 */
export async function acknowledgeConsent(
  deps: WriteDeps,
  input: ConsentAcknowledgement,
): Promise<ConsentRequest> {
  const acknowledged = parseScoped(acknowledgementSchema, input, "acknowledgement");
  const { scope, id, decision, said = [], quote: quoted, shown } = acknowledged;
  const threadId = parseThreadId(acknowledged.threadId);
  const ids = said.flatMap(({ messageId }) => messageId ?? []);
  const found = await findUserWords(deps.db, {
    scope,
    threadId,
    requestId: id,
    ids,
  });
  const recorded = new Set(found.recorded);
  // What is not recorded was said after all that is.
  const isLater = shown || found.continued;
  const fresh = said.filter(
    ({ messageId }) => isLater && !(messageId !== undefined && recorded.has(messageId)),
  );
  const latest = fresh.at(-1) ?? found.latest;
  const quote = latest && consentQuote(latest.text, quoted, decision);
  if (latest && quote) {
    const { messageId, text: message } = latest;
    const evidence = { quote, message, threadId, ...(messageId !== undefined && { messageId }) };
    const actor = scope.userId ?? "user";
    return decideConsent(deps, { scope, id, decision, actor, via: "chat", evidence });
  }
  throw new MemoryError("INVALID_INPUT", refusalOf(acknowledged, latest !== null));
}

function refusalOf(
  { quote, decision }: Pick<ConsentAcknowledgement, "quote" | "decision">,
  answered: boolean,
): string {
  const ask = "when the user has not answered yet, ask and wait for the answer.";
  if (!answered)
    return `The user has not written "${quote}" in this conversation since the request was made: ${ask}`;
  const means = decision === "approve" ? "plainly agrees, with no refusal beside it" : "is no question";
  return (
    `The user has not written "${quote}" as an answer. Quote a whole sentence of the user's latest message that ${means}; ` +
    ask
  );
}
