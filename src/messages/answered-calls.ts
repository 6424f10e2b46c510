import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { opensTurn } from "./inserted-message.js";
import { contentParts } from "./message-text.js";
import { asRecalled, isRecalled } from "./recalled-mark.js";
import { answeredCall, callsOf } from "./tool-calls.rule.js";

const noResult = "[No result: this call was not carried out, or not to its end.]";
const noAnswer = "[This turn ended without an answer.]";

/** Whether it is one that `answeredCalls` added. */
export function isRepair(message: BaseMessage): boolean {
  const { content } = message;
  return (content === noResult || content === noAnswer) && isRecalled(message);
}

/**
 * `messages` with one result directly after each call of the turns before the last: otherwise
 * providers refuse every later prompt. The last turn's calls may still be answered, and stay. Omits
 * results without a call, second results, and messages with a call that no result can name. An
 * empty answer says that there is none: providers refuse empty messages.
 *
 * @param alternates whether a question after one without an answer gets one before it: some chat
 * templates demand that roles alternate.
 * @returns `messages` itself if nothing is wrong
 */
export function answeredCalls(
  messages: readonly BaseMessage[],
  alternates = false,
): readonly BaseMessage[] {
  const lastTurn = messages.findLastIndex(opensTurn);
  const callers = callersOf(messages);
  const said = messages.filter((message) => awaitsAnswer(message) || isAnswer(message));
  const second = new Set(
    said.filter((message, at) => at > 0 && !isAnswer(said[at - 1] ?? message)),
  );
  const resultsAt = new Map<number, BaseMessage[]>();
  for (const [result, place] of callers)
    resultsAt.set(place, [...(resultsAt.get(place) ?? []), result]);
  const mended = messages.flatMap((message, place) => {
    if (message.getType() === "tool")
      return Number(callers.get(message)) > lastTurn ? [message] : [];
    if (isEmptyAnswer(message)) return [ofMemory(new AIMessage(noAnswer), message)];
    if (place > lastTurn) return [message];
    if (alternates && awaitsAnswer(message) && second.has(message))
      return [ofMemory(new AIMessage(noAnswer), message, ".before"), message];
    const results = resultsAt.get(place) ?? [];
    return isAnswerable(message) ? [message, ...results, ...missing(message, results)] : [];
  });
  const isSame = mended.length === messages.length && mended.every((it, at) => it === messages[at]);
  return isSame ? messages : mended;
}

/** Of results, places. Servers may use an id again: a result belongs to the latest call before it. */
function callersOf(messages: readonly BaseMessage[]): ReadonlyMap<BaseMessage, number> {
  const open = new Map<string, number>();
  const callers = new Map<BaseMessage, number>();
  for (const [place, message] of messages.entries()) {
    const answered = answeredCall(message) ?? "";
    const caller = open.get(answered);
    if (caller !== undefined) callers.set(message, caller);
    open.delete(answered);
    if (isAnswerable(message)) for (const { id = "" } of callsOf(message)) open.set(id, place);
  }
  return callers;
}

/** As after a refusal. Thoughts and refusals are no part of a later prompt with every provider. */
function isEmptyAnswer(message: BaseMessage): boolean {
  if (!isAnswer(message)) return false;
  const said = contentParts(message.content).filter(({ type }) => !unsaid.test(type));
  return said.every((part) => part.type === "text" && String(part.text ?? "").trim() === "");
}

const unsaid = /^(?:reasoning|thinking|redacted_thinking|refusal)$/;

/** People with names talk to one another as well. */
const awaitsAnswer = (message: BaseMessage) => opensTurn(message) && !message.name;

const isAnswer = (message: BaseMessage) =>
  message.getType() === "ai" && callsOf(message).length === 0;

function missing(message: BaseMessage, results: readonly BaseMessage[]): BaseMessage[] {
  const answered = results.map(answeredCall);
  const calls = callsOf(message).filter(({ id }) => !answered.includes(id));
  return calls.map(({ id = "", name }) => {
    const fields = { tool_call_id: id, name, content: noResult, status: "error" as const };
    return ofMemory(new ToolMessage(fields), message, `.${id}`);
  });
}

/** The same id in each prompt. */
function ofMemory(message: BaseMessage, { id }: BaseMessage, suffix = ""): BaseMessage {
  if (id !== undefined) message.id = `${id}${suffix}`;
  return asRecalled(message);
}

/** Providers pair by id, and take no arguments that are no JSON. */
function isAnswerable(message: BaseMessage): boolean {
  const ids = callsOf(message).map(({ id }) => id);
  const { invalid_tool_calls: invalid = [] } = message as Partial<AIMessage>;
  return invalid.length === 0 && ids.every(Boolean) && new Set(ids).size === ids.length;
}
