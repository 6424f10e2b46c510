import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import { withDeadline } from "../deadline.js";
import { MemoryError } from "../errors.js";
import { chatModel, nameText, nonBlank, parseInput, smallCount } from "../input/parse-input.js";
import { errorKind } from "../logger.js";
import { messageText } from "../messages/message-text.js";
import { withoutOldResults } from "../messages/tool-results.rule.js";
import { appNotes } from "../notes/notes-options.js";
import {
  delegatedMark,
  requiredScope,
  requiredThread,
  type ThreadAddress,
} from "../scope/scope.js";
import { headOf } from "../text/storable-text.js";
import type { HandedOn } from "../transcript/shown-turns.js";
import { findShownEpoch, type StoredTurn } from "./find-replay.js";
import { plainMessages } from "./prompt-for.js";
import { type RebuiltTurn, type ReplayGap, rebuildTurn, recalledOf } from "./rebuild-turn.js";
import { recall } from "./recall.js";
import type { RecallRuntime } from "./recall-request.js";
import type { Recalled } from "./recalled.js";
import { type HandedMessage, handedForm } from "./shown-by.js";
import { printMessages } from "./turn-messages.js";
import { printedLines, type ReplayLine, withoutLines, withTexts, withToday } from "./what-if.js";

const replaySchema = z.strictObject({
  scope: requiredScope,
  threadId: requiredThread,
  /** Its number in `threads.shown`. */
  turn: smallCount,
  /** `seq` of the turn in `threads.shown`, where several have one number. @default the latest */
  seq: smallCount.optional(),
  /**
   * An agent with memory of its own that the turn gave tasks: the last of these.
   * @default the agent that the user talks with
   */
  agentId: nameText.min(1).optional(),
  /** Takes lines away: ids of memories and requests, or what a line says. @default none */
  without: z.array(nonBlank).max(1_000).default([]),
  /** Texts that the turn adds as well, a line each, of 2,000 characters at most. @default none */
  with: z.array(nonBlank).max(100).default([]),
  /** "today": what a recall of now finds for the turn's question. @default "then" */
  memory: z.enum(["then", "today"]).default("then"),
  /**
   * Answers both prompts, without tools; "memory": the memory's own model.
   * @default none: nothing is answered
   */
  model: z.union([z.literal("memory"), chatModel]).optional(),
  /** The longest wait for an answer, in milliseconds, at most ten minutes. @default 60_000 */
  timeoutMs: z.int().min(1).max(600_000).default(60_000),
});

export interface ReplayInput extends z.input<typeof replaySchema> {}

/** What a model says to a prompt; tools that it would call are named, and never run. */
export interface ReplayAnswer {
  readonly text: string;
  readonly toolCalls: readonly string[];
  /** Why there is no answer; else null. */
  readonly error: string | null;
}

export interface ReplayedTurn {
  readonly threadId: string;
  readonly turn: number;
  readonly seq: number;
  readonly messageId: string;
  readonly at: Date;
  readonly agentId: string | null;
  /** Whether `messages` are what was handed on, byte for byte. */
  readonly complete: boolean;
  /** What they lack, and why. */
  readonly gaps: readonly ReplayGap[];
  /** The summary, memory and the conversation, the user's message last. */
  readonly messages: readonly HandedMessage[];
  /** The lines of memory among them. */
  readonly lines: readonly ReplayLine[];
  /** The messages with the asked changes; null if none were asked. */
  readonly changed: readonly HandedMessage[] | null;
  /** Answers to `messages`, and to `changed`; null without a model. */
  readonly answers: {
    readonly asShown: ReplayAnswer;
    readonly changed: ReplayAnswer | null;
  } | null;
}

/**
 * Prints the prompt of an earlier turn again, from what is stored of it, and a changed one beside
 * it. Reads only.
 * @throws MemoryError `NOT_FOUND`, `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`,
 * `MODEL_REQUIRED`
 */
export async function replayTurn(deps: RecallRuntime, input: ReplayInput): Promise<ReplayedTurn> {
  const { agentId, ...asked } = parseInput(replaySchema, input, "replay");
  const { scope, model } = asked;
  const threadId = asked.threadId + (agentId === undefined ? "" : delegatedMark + agentId);
  const asking = model === "memory" ? deps.model() : model;

  // Find: the turns of the epoch, and what they refer to.
  const tasksOf = agentId === undefined ? undefined : asked.threadId;
  const epoch = await findShownEpoch(deps.db, { scope, threadId }, { ...asked, tasksOf });
  const own = epoch?.turns.at(-1);
  if (!epoch || !own) throw unknownTurn(asked, agentId);
  const { timeZone } = deps.config.retrieval;
  const unrecorded: HandedOn = { injectAs: "message", timeZone, talk: [], check: 0 };

  // Rebuild: the turn as it was, with marks for what is gone.
  const { appId } = scope;
  const appName = appId === undefined ? undefined : appNotes(deps.config.notes, appId).name;
  const rebuilt = rebuildTurn(epoch, own, own.handed ?? unrecorded, appName);

  // Print: both versions by the function that printed the turn.
  const shown = printed(rebuilt);
  const gaps = [...rebuilt.gaps];
  const isSame = gaps.some(({ what }) => what !== "message") || shown.check === own.handed?.check;
  if (!isSame) gaps.push({ what: "prompt", why: "changed", id: null });
  const changedTurn = await changedBy(asked, deps, own, rebuilt);
  const changed = changedTurn && printed(changedTurn);

  // Ask, if a model is given: it sees both, and nothing is kept of it.
  const answers = asking
    ? await answersOf(asking, asked.timeoutMs, shown.messages, changed?.messages)
    : null;
  return {
    threadId,
    turn: own.turn,
    seq: own.seq,
    messageId: own.messageId,
    at: new Date(own.at),
    agentId: own.agentId,
    complete: gaps.length === 0,
    gaps,
    messages: shown.forms,
    lines: printedLines(rebuilt).map(({ of: _, ...line }) => line),
    changed: changed?.forms ?? null,
    answers,
  };
}

function unknownTurn(
  { threadId, turn, seq }: Pick<z.output<typeof replaySchema>, "threadId" | "turn" | "seq">,
  agentId: string | undefined,
): MemoryError {
  const at = seq === undefined ? "" : ` at seq ${seq}`;
  const by = agentId === undefined ? "it was" : `the agent "${agentId}" was`;
  return new MemoryError(
    "NOT_FOUND",
    `Thread "${threadId}" of this scope has no turn ${turn}${at} of which memory kept what ${by} shown. ` +
      "memory.threads.shown lists those that it has.",
  );
}

/** A turn as messages for a model and in their form. */
function printed(turn: RebuiltTurn) {
  const { talk, handed } = turn;
  const recalled = recalledOf(turn);
  const chosen = { instructions: [], talk, isSaid: () => true };
  const all = printMessages(chosen, recalled, handed.injectAs);
  const messages =
    handed.toolResultTokens === undefined ? all : withoutOldResults(all, handed.toolResultTokens);
  const forms: HandedMessage[] = handed.isPlain
    ? plainMessages(messages)
    : messages.map(handedForm);
  return { messages, forms, check: recalled.epoch.handed?.noted?.check };
}

/** Null if no change was asked. */
async function changedBy(
  asked: z.output<typeof replaySchema>,
  deps: RecallRuntime,
  own: StoredTurn,
  turn: RebuiltTurn,
): Promise<RebuiltTurn | null> {
  const isOfToday = asked.memory === "today";
  if (!isOfToday && asked.without.length + asked.with.length === 0) return null;
  if (!isOfToday) requireLines(turn, asked.without);
  const base = isOfToday ? withToday(turn, await recallToday(deps, asked, own, turn)) : turn;
  return withTexts(withoutLines(base, asked.without), asked.with);
}

/** Two answers to one prompt would look like the effect of a line. */
function requireLines(turn: RebuiltTurn, names: readonly string[]): void {
  const { length } = printedLines(turn);
  const isNone = (name: string) => printedLines(withoutLines(turn, [name])).length === length;
  const unknown = names.find(isNone);
  if (unknown === undefined) return;
  const problem = `Invalid replay: \`without\` names ${JSON.stringify(headOf(unknown, 200))}, which memory did not show in this turn.`;
  throw new MemoryError("INVALID_INPUT", `${problem} \`lines\` of a replay lists what it showed.`);
}

/** What is found now for the turn's question, by the turn's agent. */
function recallToday(
  deps: RecallRuntime,
  { scope, threadId }: ThreadAddress,
  { agentId }: StoredTurn,
  { talk }: RebuiltTurn,
): Promise<Recalled> {
  const question = talk.at(-1);
  // A replay leaves no events.
  const silent = { ...deps, record: async () => {} };
  // As for a task: nothing of the thread, and no epoch of it.
  return recall(silent, {
    scope,
    threadId: `${threadId}${delegatedMark}replay`,
    query: question === undefined ? "" : messageText(question),
    ...(agentId !== null && { agent: agentId }),
  });
}

async function answersOf(
  model: BaseChatModel,
  timeoutMs: number,
  shown: readonly BaseMessage[],
  changed: readonly BaseMessage[] | undefined,
): Promise<NonNullable<ReplayedTurn["answers"]>> {
  const answer = (messages: readonly BaseMessage[]) => answerOf(model, timeoutMs, messages);
  const [asShown, other] = await Promise.all([answer(shown), changed ? answer(changed) : null]);
  return { asShown, changed: other };
}

/** Keeps its tokens out of the streams and callbacks of a run around it. */
const apart = {
  tags: ["nostream", "langsmith:nostream", "mnemograph"],
  callbacks: [],
  runName: "mnemograph.replay",
};

async function answerOf(
  model: BaseChatModel,
  timeoutMs: number,
  messages: readonly BaseMessage[],
): Promise<ReplayAnswer> {
  try {
    const ask = (signal: AbortSignal) => model.invoke([...messages], { ...apart, signal });
    const reply = (await withDeadline(timeoutMs, ask)) as AIMessage;
    const toolCalls = (reply.tool_calls ?? []).map(({ name }) => name);
    return { text: messageText(reply), toolCalls, error: null };
  } catch (error) {
    const why = MemoryError.is(error)
      ? error.message
      : `The model call failed: ${errorKind(error)}.`;
    return { text: "", toolCalls: [], error: why };
  }
}
