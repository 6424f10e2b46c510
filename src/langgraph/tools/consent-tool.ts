import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { consentLine } from "../../consents/consent-lines.rule.js";
import { MemoryError } from "../../errors.js";
import type { ConsentRequest } from "../../memories/guard/consent-request.rule.js";
import type { Memory } from "../../memory.js";
import { wayIn } from "../../way-in.js";
import { answeredTooLate, answerMistakes } from "../nodes/consent-node.js";
import { consentCall, noteConsentTool } from "../run/consent-channel.js";
import { checkOptions } from "../run/node-options.js";
import { runIdentity, runOrigin } from "../run/run-identity.js";
import { shownAs, wasShown } from "../run/run-state.js";
import { currentUserWords, memoryTool, toolMessages } from "./memory-tool.js";

/** How a consent tool is bound. */
export interface ConsentToolOptions {
  /** Name on the wire. @default "memory_consent" */
  readonly name?: string;
}

const optionsSchema = z.strictObject({ name: z.string().optional() });

const argumentsSchema = z.object({
  proposal: z
    .string()
    .min(1)
    .describe('Which proposal: its number in the memory block ("1"), or its id, the letters in brackets.'),
  decision: z.enum(["approve", "refuse"]).describe("What the user said to it."),
  quote: z
    .string()
    .min(1)
    .max(2_000)
    .describe("The user's exact words that say so, from the user's own message."),
});

/**
 * The tool that an agent calls when the user plainly agreed to, or refused, what waits for consent.
 *
 * Whose proposals these are is fixed by the run. The quote must stand in a message that the user wrote after the
 * proposal was made; what assistants and tools say is no evidence. Refusals are messages that the model can act on.
 *
 * @throws MemoryError `INVALID_INPUT` for a name that providers would refuse, and for options that there are not.
 */
export function consentTool(memory: Memory, options: ConsentToolOptions = {}): DynamicStructuredTool {
  checkOptions(memory, optionsSchema, options, "consentTool");
  noteConsentTool(memory);
  return memoryTool({
    name: options.name ?? "memory_consent",
    call: consentCall,
    description:
      'Records what the user decided about a proposal under "Waiting for the User\'s Consent" in the memory block. ' +
      "Call it only when the user plainly said yes or no to that proposal, after being asked about it. Never call it " +
      "for silence, for a change of subject, or for what you or a tool said.",
    schema: argumentsSchema,
    refusals: new Set([...answerMistakes, ...answeredTooLate]),
    async answer({ proposal, decision, quote }, config) {
      const { id } = await findProposal(memory, proposal, config);
      const decided = await memory.consents.acknowledge({
        ...runIdentity(config, memory),
        ...{ id, decision, quote },
        said: currentUserWords(toolMessages(config)),
        shown: wasShown(config, id),
      });
      return decided.status === "approved"
        ? `Remembered with the user's consent: ${decided.text}`
        : `The user refused; this is not remembered and not to be asked again: ${consentLine(decided)}`;
    },
    async refused({ code, message }, config) {
      const event = { step: "tool", op: "approve", status: "error", detail: code } as const;
      await wayIn(memory).emit({ ...runIdentity(config, memory), ...runOrigin(config), ...event });
      return `Refused: ${message}`;
    },
  });
}

/** Shorter beginnings of an id could mean another one. */
const shortestId = 8;

/** The proposal that a model means. @throws MemoryError `NOT_FOUND` with a list of what waits */
async function findProposal(
  memory: Memory,
  named: string,
  config: LangGraphRunnableConfig,
): Promise<Pick<ConsentRequest, "id">> {
  const wanted = named
    .trim()
    .toLowerCase()
    .replace(/^[#(]+|\)+$/g, "");
  const numbered = /^\d{1,2}$/.test(wanted) ? shownAs(config, Number(wanted)) : null;
  if (numbered !== null) return { id: numbered };
  const { scope } = runIdentity(config, memory);
  const waiting = await memory.consents.list({ scope, rule: "consent", limit: 1_000 });
  const fitting = waiting.filter(({ id }) => wanted.length >= shortestId && id.startsWith(wanted));
  if (fitting.length === 1 && fitting[0]) return fitting[0];
  const list = waiting.slice(0, 10).map((request) => `${request.id}: ${consentLine(request)}`);
  throw new MemoryError(
    "NOT_FOUND",
    `No proposal "${named}" waits for consent. ${list.length > 0 ? `These do:\n${list.join("\n")}` : "None does."}`,
  );
}
