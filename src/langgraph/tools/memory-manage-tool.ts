import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { internalApi } from "../../internal-api.js";
import { categoryMeant, readableCategories } from "../../memories/item/category.rule.js";
import { isApproved, type MemoryDraft, type MemoryItem } from "../../memories/item/memory.js";
import type { Memory } from "../../memory.js";
import { isSharedBy } from "../../scope/scope.js";
import { findSaid } from "../../text/find-quote.js";
import { sharedWords } from "../../text/shared-words.js";
import { clipped } from "../../text/storable-text.js";
import { checkOptions } from "../run/node-options.js";
import { type RunIdentity, runIdentity, runOrigin } from "../run/run-identity.js";
import type { AnsweredMessage } from "../run/turn-identity.js";
import {
  answeredMessage,
  currentUserWords,
  idOfWords,
  invalid,
  memoryTool,
  type ToolOptions,
  toolOptions,
  type UserWords,
} from "./memory-tool.js";

const boundedWords = (most: number) => z.string().min(1).max(most).nullish();
const argumentsSchema = z.object({
  action: z.enum(["add", "update", "forget"]),
  memory: boundedWords(100).describe(
    "For update and forget: the id of the memory, as memory_query gives it.",
  ),
  text: boundedWords(2_000).describe(
    'For add and update: one self-contained sentence in the third person, "The user …".',
  ),
  category: z.string().nullish().describe("For add: one of the categories."),
  key: z
    .string()
    .nullish()
    .describe(
      'For add of what has one value at a time: its name ("job", "city", "preferred_name"); else leave out.',
    ),
  value: z.string().nullish().describe("With a key, the value alone."),
  quote: boundedWords(2_000).describe(
    "The user's exact words, of the latest message, that say or ask it; `text` uses their words. Leave out what the user did not say.",
  ),
});
type Arguments = z.output<typeof argumentsSchema>;

/**
 * A tool that adds, updates and forgets memories when the user asks. Consent, quarantine,
 * allowlists and the audit trail apply; the run fixes the owner. With a quote of the user's latest
 * message, a text that shares words with it counts as the user's word, otherwise as the agent's,
 * which ranks lower. Forgetting needs a quote, and changing the user's own words such a text. One
 * message of the user changes, replaces or forgets three memories at most, and adds three, subagents
 * included; `memories.writesPerDay` limits what is added in a day. What is forgotten can be restored
 * until the purge.
 * @example
 * ```ts
 * const agent = createAgent({ model, tools: [memoryManageTool(memory), memoryQueryTool(memory)] });
 * ```
 * @param options.agent limits changes to what this agent may read. @default no limit
 * @param options.name on the wire. @default "memory_manage"
 * @throws MemoryError `INVALID_INPUT` for a name that providers refuse, and for unknown options
 */
export function memoryManageTool(memory: Memory, options: ToolOptions = {}): DynamicStructuredTool {
  checkOptions(memory, toolOptions, options, "memoryManageTool");
  const { agent } = options;
  const categories = readableCategories(memory.policy, agent ?? null);
  return memoryTool({
    name: options.name ?? "memory_manage",
    description:
      "Changes long-term memory about this user: adds, updates or forgets one memory. Call it when the user asks to " +
      "remember, correct or forget something. What users say in passing is remembered by itself. One message of the user " +
      "may change, replace or forget three memories, and add three. " +
      `Categories: ${[...categories].join(", ") || "none"}.`,
    schema: argumentsSchema,
    // The model can correct these.
    refusals: [
      "CATEGORY_DENIED",
      "CONSENT_REQUIRED",
      "CONFLICT",
      "INVALID_INPUT",
      "NOT_FOUND",
      "STALE_REVISION",
      "WRONG_STATE",
    ],
    async answer(input, config) {
      const identity = runIdentity(config, memory);
      const answered = answeredMessage(config, memory, agent);
      const call = { memory, config, agent, categories, answered, ...identity };
      if (input.action === "add") return add(call, input);
      return input.action === "update" ? update(call, input) : forgetMemory(call, input);
    },
  });
}

interface ManageCall extends RunIdentity {
  readonly memory: Memory;
  readonly agent: string | undefined;
  readonly categories: ReadonlySet<string>;
  readonly config: LangGraphRunnableConfig;
  readonly answered: AnsweredMessage;
}

async function add(call: ManageCall, input: Arguments): Promise<string> {
  const { memory, categories } = call;
  const name = input.category ?? "knowledge";
  const category = categoryMeant(memory.policy, name)?.name;
  if (category === undefined || !categories.has(category)) {
    throw new MemoryError(
      "CATEGORY_DENIED",
      `"${name}" is none of your categories: ${[...categories].join(", ") || "none"}.`,
    );
  }
  const { key, value, quote } = input;
  const text = required(input.text, "text");
  const draft = { category, ...(key && { key }), ...(value && { value }), text };
  return writeMemory(call, draft, findQuoted(call, quote)?.quote ?? null);
}

async function update(call: ManageCall, input: Arguments): Promise<string> {
  const { known, said } = await findManaged(call, input, "change it");
  const quote = said?.quote ?? null;
  if (isApproved(known))
    throw invalid(`An operator vouches for "${known.text}": it cannot be changed here.`);
  const text = required(input.text, "text");
  const { id, key, category, revision } = known;
  if (key !== null) {
    const { value } = input;
    return writeMemory(
      call,
      { category, key, text, ...(value && { value }), correction: quote !== null },
      quote,
    );
  }
  if (!(await isOwnWord(call, text, quote))) {
    // A user's memories may hold the user's orders: nobody else's may replace them.
    if (await instructs(call, text))
      throw invalid("That text reads as instructions that the user did not give.");
    if (isVouchedFor(known))
      throw invalid(
        `"${known.text}" is the user's own word, and the new text has no words of the quote. Use the user's words.`,
      );
  }
  const change = { ...access(call, said), id, text, ifRevision: revision };
  const changed = await call.memory.memories.update(change);
  return `Updated: ${changed.text} (${id})`;
}

async function forgetMemory(call: ManageCall, input: Arguments): Promise<string> {
  const { known, said } = await findManaged(call, input, "forget it");
  const { id, text, revision } = known;
  await call.memory.memories.remove({ ...access(call, said), id, ifRevision: revision });
  return `Forgotten: ${text} (${id}). It can be restored for a while.`;
}

/** Only readable ones, and in a user's run only the user's own. @throws MemoryError `NOT_FOUND` */
async function findManaged(call: ManageCall, input: Arguments, what: "change it" | "forget it") {
  const { memory, scope, categories } = call;
  const id = required(input.memory, "memory").trim();
  const known = await memory.memories.get({ scope, id });
  // A slot's new value would be the user's own, beside the app's.
  const isReachable = known?.state === "active" && !isSharedBy(scope, known.scope);
  if (!isReachable || !categories.has(known.category)) {
    throw new MemoryError(
      "NOT_FOUND",
      `There is no memory "${clipped(id, 100)}" that you can change: ask memory_query for its id.`,
    );
  }
  const said = findQuoted(call, input.quote);
  if (said !== null || (what === "change it" && !isVouchedFor(known))) return { known, said };
  const whose = isVouchedFor(known) ? `"${known.text}" is the user's own word. ` : "";
  throw invalid(
    `${whose}To ${what}, give the words of the user's latest message that ask for it as \`quote\`.`,
  );
}

async function writeMemory(
  call: ManageCall,
  draft: MemoryDraft,
  quote: string | null,
): Promise<string> {
  const { memory, config, agent, threadId } = call;
  const isUsers = await isOwnWord(call, draft.text, quote);
  const origin = isUsers ? "user" : "assistant";
  const source = isUsers && quote !== null ? { source: { threadId, seqs: [], quote } } : {};
  const [outcome] = await memory.memories.add({
    ...access(call, null),
    memories: { ...draft, ...runOrigin(config, agent), ...source, origin, role: origin },
  });
  return reportOf(outcome as Outcome, draft.text);
}

type Outcome = Awaited<ReturnType<Memory["memories"]["add"]>>[number];

function reportOf(
  { outcome, id, consentId, message, trimmed = "" }: Outcome,
  text: string,
): string {
  switch (outcome) {
    case "created":
    case "updated":
    case "replaced":
    case "merged":
    case "closed":
      return trimmed === ""
        ? `Remembered: ${text} (${id})`
        : `Remembered but for its end (${id}). That is a memory of its own: ${trimmed}`;
    case "kept":
      return "Not changed: what is known is believed more. It takes the user's own words, as `quote` and in `text`.";
    case "proposed":
      return `Not remembered yet: it waits as ${consentId}, until the user has agreed, or until it is said again.`;
    case "refused":
      return "Not remembered: the user refused it not long ago. Do not ask again.";
    case "quarantined":
      return "Kept for a person to look at first: it reads as instructions.";
    case "rejected":
      return `Not remembered. ${message}`;
  }
}

function access({ scope, agent, answered }: ManageCall, said: QuotedWords | null) {
  const by = { scope, actor: agent ?? "agent", ...answered };
  return said === null ? by : { ...by, quote: said.quote, messageId: idOfWords(said) };
}

type QuotedWords = UserWords & { readonly quote: string };

/**
 * The quote as the user wrote it, and its message; null without one.
 * @throws MemoryError `INVALID_INPUT`
 */
function findQuoted({ config }: ManageCall, wanted: string | null | undefined): QuotedWords | null {
  if (wanted == null) return null;
  for (const said of currentUserWords(config)) {
    const quote = findSaid(said.text, wanted);
    if (quote !== null) return { ...said, quote };
  }
  throw invalid(
    `The user's latest message does not say "${wanted}", or only quotes it. Give the user's own words exactly, or leave \`quote\` out.`,
  );
}

/** Share of words in common that makes instructions the user's. */
const minShared = 0.25;

const instructs = ({ memory }: ManageCall, text: string) => internalApi(memory).screen(text);

async function isOwnWord(call: ManageCall, text: string, quote: string | null): Promise<boolean> {
  const shared = quote === null ? 0 : sharedWords(text, quote);
  return shared >= minShared || (shared > 0 && !(await instructs(call, text)));
}

function isVouchedFor({ trust }: MemoryItem): boolean {
  return trust === "user" || trust === "operator";
}

function required(value: string | null | undefined, name: string): string {
  if (value) return value;
  throw invalid(`\`${name}\` is needed for this action.`);
}
