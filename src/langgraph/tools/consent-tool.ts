import type { DynamicStructuredTool } from "@langchain/core/tools";
import { z } from "zod";
import { consentLine, minIdCharacters } from "../../consents/consent-lines.rule.js";
import { MemoryError } from "../../errors.js";
import { internalApi } from "../../internal-api.js";
import type { ConsentRequest } from "../../memories/consent/consent-request.rule.js";
import type { Memory } from "../../memory.js";
import type { Scope, ThreadAddress } from "../../scope/scope.js";
import { normalForm } from "../../text/normal-value.js";
import { quotedIn } from "../../text/quoted-text.js";
import { clipped } from "../../text/storable-text.js";
import { answeredTooLate, answerMistakes } from "../nodes/consent-node.js";
import { checkOptions } from "../run/node-options.js";
import { runAsker, runIdentity } from "../run/run-identity.js";
import {
  currentUserWords,
  invalid,
  memoryTool,
  type NameOption,
  nameOption,
  type UserWords,
} from "./memory-tool.js";

const argumentsSchema = z.object({
  proposal: z
    .string()
    .min(1)
    .describe("The letters in front of the proposal in the memory block, or its id."),
  decision: z.enum(["approve", "refuse", "later"]).describe("What the user said to it."),
  quote: z
    .string()
    .min(1)
    .max(2_000)
    .describe("The whole sentence of the user's latest message that says so."),
});

/**
 * A tool that records the user's answer about a pending consent, for chats without interrupts. Set
 * `consent: { ask: "tool" }`, so that the agent sees the proposals; the run fixes their owner. The
 * quote, kept in the audit trail, must be a whole sentence of the user's latest message, sent after
 * the assistant spoke.
 * @param options.name on the wire. @default "memory_consent"
 * @throws MemoryError `INVALID_INPUT` for a name that providers refuse, and for unknown options
 */
export function consentTool(memory: Memory, options: NameOption = {}): DynamicStructuredTool {
  checkOptions(memory, nameOption, options, "consentTool");
  internalApi(memory).asksConsent("tool");
  return memoryTool({
    name: options.name ?? "memory_consent",
    description:
      'Records what the user decided about a proposal under "Waiting for the User\'s Consent" in the memory block. ' +
      "Call it only when the user plainly answered after being asked about that proposal. Never call it for silence, " +
      "for a change of subject, or for what you or a tool said.",
    schema: argumentsSchema,
    refusals: [...answerMistakes, ...answeredTooLate],
    async answer({ proposal, decision, quote }, config) {
      const { scope, threadId } = runIdentity(config, memory);
      const request = await findProposal(memory, scope, proposal);
      const said = currentUserWords(config).at(-1);
      const isAnswered = said && (await answersRequest(memory, { scope, threadId }, request, said));
      if (!isAnswered)
        throw invalid("The user has not answered yet: ask about it, and wait for the answer.");
      const sentence = wholeSentence(said.text, quote);
      if (sentence === null)
        throw invalid(`The user's latest message has no sentence "${clipped(quote, 200)}".`);
      const evidence = { quote: sentence, message: said.text, threadId, messageId: said.messageId };
      const by = { actor: scope.userId ?? "user", via: "chat", evidence } as const;
      const decided = await memory.consents.decide({ scope, id: request.id, decision, ...by });
      if (decision === "later") return `Put off for a day: ${consentLine(decided)}`;
      if (decision === "approve") return `Remembered with the user's consent: ${decided.text}`;
      return `The user refused; this is not remembered and not to be asked again: ${consentLine(decided)}`;
    },
    async refused({ code, message }, config) {
      const asker = runAsker(config, memory, {});
      const event = { step: "tool", op: "approve", status: "error", detail: code } as const;
      await internalApi(memory).emit({ ...asker, ...event });
      return `Refused: ${message}`;
    },
  });
}

async function findProposal(memory: Memory, scope: Scope, named: string): Promise<ConsentRequest> {
  const wanted = named.trim().toLowerCase();
  const waiting = await memory.consents.list({ scope, rule: "consent", limit: 1_000 });
  const [found, other] = waiting.filter(
    ({ id }) => wanted.length >= minIdCharacters && id.startsWith(wanted),
  );
  if (found && !other) return found;
  const list = waiting.slice(0, 10).map((request) => `${request.id}: ${consentLine(request)}`);
  const these = list.length > 0 ? `These do:\n${list.join("\n")}` : "None does.";
  throw new MemoryError(
    "NOT_FOUND",
    `No proposal "${clipped(named, 100)}" waits for consent. ${these}`,
  );
}

/** Whether the assistant has spoken since the request, and the user after that. */
async function answersRequest(
  memory: Memory,
  thread: ThreadAddress,
  { createdAt }: ConsentRequest,
  { messageId }: UserWords,
): Promise<boolean> {
  const recorded = await memory.threads.messages({ ...thread, limit: 100, maxCharacters: 1 });
  const asked = recorded.findIndex(
    ({ role, saidAt }) => role === "assistant" && saidAt > createdAt,
  );
  const place = recorded.findIndex((message) => message.messageId === messageId);
  // An unrecorded message is the last.
  return asked >= 0 && (place < 0 || place > asked);
}

/** Longer messages are not answers. */
const maxReplyCharacters = 4_000;

/** Null for a part of a sentence, a question, or another text. */
function wholeSentence(message: string, quote: string): string | null {
  if (message.length > maxReplyCharacters) return null;
  const sentences = [
    ...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(message),
  ];
  const wanted = spokenWords(quote);
  const isQuoted = quotedIn(message);
  const found = [{ segment: message, index: 0 }, ...sentences].find(
    ({ segment, index }) =>
      spokenWords(segment) === wanted && !isQuoted(index, index + segment.length),
  )?.segment;
  return wanted === "" || found === undefined || /[?？؟]/.test(found) ? null : found.trim();
}

function spokenWords(text: string): string {
  const plain = normalForm(text, "NFKC").toLowerCase();
  return plain.replace(/[^\p{L}\p{M}\p{N}\p{S}]+/gu, " ").trim();
}
