import type { CallbackManager } from "@langchain/core/callbacks/manager";
import {
  type BaseMessage,
  type BaseMessageLike,
  coerceMessageLikeToMessage,
  HumanMessage,
  RemoveMessage,
} from "@langchain/core/messages";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import {
  Command,
  isParentCommand,
  type LangGraphRunnableConfig,
  messagesStateReducer,
  Overwrite,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { isJsonObject } from "../../input/plain-json.js";
import type { Memory } from "../../memory.js";
import { encodeMessage } from "../../messages/message-codec.js";
import { isMemoryBlock, isRecalled } from "../../messages/recalled-mark.js";
import { withAdvice } from "../../prompt/explain-refusal.js";
import {
  forgetfulSaver,
  restoreRecalled,
  type ShownView,
  shownView,
  storedIn,
  withoutRecalled,
  withPlaceholders,
} from "../checkpointer/forgetful-saver.js";
import { modelView } from "../nodes/model-view.js";
import { recalling, recallingForTask } from "../nodes/recall-node.js";
import { remembering } from "../nodes/remember-node.js";
import type { MessagesKeyOption, TurnOptions } from "../run/node-options.js";
import { isWithinTool } from "../run/run-identity.js";
import {
  fromState,
  type MemoryState,
  memoryKey,
  removedKey,
  withoutRemoved,
} from "../run/state-fields.js";
import { type AgentGraph, wholeStateInput, wholeStateUpdate } from "./agent-graph.js";

type StateValues = Record<string, unknown>;
type AgentState = MemoryState & { [removedKey]?: string[] } & StateValues;

export function callAgent(
  agent: AgentGraph,
  memory: Memory,
  options: TurnOptions & MessagesKeyOption,
) {
  const { builder } = agent;
  const recallAgain = recalling(memory, options);
  const remember = remembering(memory, options);
  const { messagesKey = "messages" } = options;
  return async (
    state: AgentState,
    config: LangGraphRunnableConfig,
  ): Promise<StateValues | Command> => {
    const { [memoryKey]: kept, [removedKey]: removed = [], ...own } = state;
    // A resumed run starts here without recalled memory, which is not checkpointed.
    const recalled = fromState(
      kept === undefined ? (await recallAgain(state, config))[memoryKey] : kept,
    );
    const said = own[messagesKey] as BaseMessage[];
    const view = modelView(said, recalled && withoutRemoved(recalled, removed), options.injectAs);
    const shown = shownView(said, view);
    const { agentConfig, isSeen } = storingForgetfully(agent, config, shown, messagesKey);
    // Replaces the previous turn's view in an agent with its own checkpoints.
    const input = wholeStateInput(builder, { ...restoreRecalled(own, shown), [messagesKey]: view });
    let output: StateValues;
    try {
      output = await withAdvice(invokeStreamed(agent, input, agentConfig, shown), options.injectAs);
    } catch (error) {
      const { goto, update, added } = commandForParent(error, config, shown, messagesKey);
      const replacesAll = Overwrite.isInstance(update[messagesKey]);
      // The run leaves this graph before its remember node.
      const messages = messagesStateReducer(replacesAll ? [] : said, added);
      await remember({ ...own, [memoryKey]: recalled, [messagesKey]: messages }, config);
      return new Command({ graph: Command.PARENT, goto, update });
    }

    const { [messagesKey]: messages, ...others } = output;
    const changed: StateValues = {
      ...wholeStateUpdate(builder, own, withPlaceholders(others, shown)),
      [memoryKey]: recalled,
    };
    if (!messages) return changed;
    const update = messageUpdate(said, shown, isSeen, messages as BaseMessage[]);
    const shownIds =
      recalled && idsOfMessages([...recalled.recent, ...recalled.lastTurn, ...recalled.gap]);
    // After a failed recall, they are unknown.
    const nowRemoved = [...removed.filter((id) => shownIds?.has(id) ?? true), ...update.removed];
    if (removed.length > 0 || nowRemoved.length > 0) changed[removedKey] = nowRemoved;
    return { ...changed, [messagesKey]: update.messages };
  };
}

/**
 * Runs an agent without memory on a task, before which it sees what is always shown. One that has
 * memory is given the task alone.
 */
export function callOnTask(agent: AgentGraph, memory: Memory, options: TurnOptions) {
  const { builder } = agent;
  const hasMemory = memoryKey in builder.channels || "memory.before_agent" in builder.nodes;
  const recall = recallingForTask(memory, options);
  // The agent's instructions are in no message: "system" would make a second system message.
  const injectAs = options.injectAs === "text" ? "text" : "message";
  return async (task: string, config: LangGraphRunnableConfig): Promise<BaseMessage[]> => {
    // The same in a resumed run, which finds its message by it.
    const id = String(config.configurable?.checkpoint_ns);
    const state = [new HumanMessage({ content: task, id })];
    const view = modelView(state, hasMemory ? null : await recall(config), injectAs);
    const shown = shownView(state, view);
    const { agentConfig } = storingForgetfully(agent, config, shown, "messages");
    const output = invokeStreamed(agent, { messages: view }, agentConfig, shown);
    return (await withAdvice(output, injectAs)).messages as BaseMessage[];
  };
}

function storingForgetfully(
  agent: AgentGraph,
  config: LangGraphRunnableConfig,
  shown: ShownView,
  messagesKey: string,
) {
  const { __pregel_checkpointer: inherited, __pregel_resuming: isResuming } =
    config.configurable ?? {};
  const saver = inherited ?? agent.checkpointer;
  if (typeof saver !== "object" || saver === null)
    return { agentConfig: config, isSeen: () => true };
  const turnChannel = saver === inherited ? messagesKey : undefined;
  // A tool gives a task: a resumed run must not find there what the agent around it was shown.
  const given = saver as BaseCheckpointSaver;
  const own = (isWithinTool(config) && storedIn.get(given)) || given;
  const forgetful = forgetfulSaver(own, shown, turnChannel);
  const configurable = { ...config.configurable, __pregel_checkpointer: forgetful.saver };
  // A resumed run may recall more than the agent saw at its start.
  const isSeen = ({ id = "" }: BaseMessage) =>
    !isResuming || forgetful.loaded.size === 0 || forgetful.loaded.has(id);
  return { agentConfig: { ...config, configurable }, isSeen };
}

// LangGraph does not type these parts. Without them, streams are those of nested graphs.

/** Streams tokens without `subgraphs: true`, and states without recalled messages. */
async function invokeStreamed(
  agent: AgentGraph,
  input: Readonly<StateValues>,
  config: LangGraphRunnableConfig,
  shown: ShownView,
): Promise<Record<string, unknown>> {
  const agentConfig = withOwnTokens(withoutRecalledInStream(config, shown));
  // LangGraph prefers the handlers of the node's own config.
  return AsyncLocalStorageProviderSingleton.runWithConfig(agentConfig, () =>
    agent.invoke(input, agentConfig),
  );
}

type GraphStream = {
  push(piece: readonly [readonly string[], string, unknown, ...unknown[]]): void;
};

function withoutRecalledInStream(
  config: LangGraphRunnableConfig,
  shown: ShownView,
): LangGraphRunnableConfig {
  const stream = config.configurable?.__pregel_stream as GraphStream | undefined;
  if (typeof stream?.push !== "function") return config;
  const push: GraphStream["push"] = ([namespace, mode, payload, ...rest]) =>
    stream.push([namespace, mode, pieceWithoutRecalled(mode, payload, shown), ...rest]);
  const guarded = Object.create(stream, { push: { value: push } });
  return { ...config, configurable: { ...config.configurable, __pregel_stream: guarded } };
}

/** Other modes hold a model's words ("messages") and the agent's own data ("custom"). */
function pieceWithoutRecalled(mode: string, piece: unknown, shown: ShownView): unknown {
  if (mode === "values" || mode === "updates") return withoutRecalled(piece, shown);
  // A piece of one of the two other modes.
  if (mode === "debug") {
    const event = piece as { readonly payload: unknown };
    return { ...event, payload: pieceWithoutRecalled("tasks", event.payload, shown) };
  }
  if (mode !== "tasks" && mode !== "checkpoints") return piece;
  const fields = Object.entries(piece as Readonly<StateValues>).map(([name, field]) => [
    name,
    name === "config" || name === "parentConfig"
      ? withoutInternals(field)
      : withoutRecalled(field, shown),
  ]);
  return Object.fromEntries(fields);
}

/** LangGraph's own values lead to handlers, savers and what the nodes around were given. */
function withoutInternals(config: unknown): unknown {
  if (!isJsonObject(config) || !isJsonObject(config.configurable)) return config;
  const configurable = Object.entries(config.configurable).filter(
    ([name]) => !name.startsWith("__pregel_"),
  );
  return { ...config, configurable: Object.fromEntries(configurable) };
}

/** LangGraph's newer handlers of "messages" and "tools" filter events by it. */
type NamespaceOptions = { readonly subgraphs: boolean; readonly parentNs?: string | undefined };

/**
 * Newer versions of LangGraph stream only the graph's own tokens; callers want the wrapped agent's.
 */
function withOwnTokens(config: LangGraphRunnableConfig): LangGraphRunnableConfig {
  const callbacks = config.callbacks as CallbackManager | undefined;
  const agentNs: unknown = config.configurable?.checkpoint_ns;
  if (typeof callbacks?.copy !== "function" || typeof agentNs !== "string") return config;
  const graphNs = agentNs.split("|").slice(0, -1).join("|");
  const own = (handler: CallbackManager["handlers"][number]) => {
    const { namespaceOptions } = handler as { namespaceOptions?: NamespaceOptions };
    if (namespaceOptions?.subgraphs !== false || (namespaceOptions.parentNs ?? "") !== graphNs)
      return handler;
    return Object.create(handler, {
      namespaceOptions: { value: { ...namespaceOptions, parentNs: agentNs } },
    });
  };
  const owned = new Map(callbacks.handlers.map((handler) => [handler, own(handler)]));
  const copy = callbacks.copy();
  copy.handlers = copy.handlers.map((handler) => owned.get(handler) ?? handler);
  copy.inheritableHandlers = copy.inheritableHandlers.map(
    (handler) => owned.get(handler) ?? handler,
  );
  return { ...config, callbacks: copy };
}

/**
 * An agent's command to the graph around its own, such as to hand over to another agent.
 * @throws `error` if it is none
 */
function commandForParent(
  error: unknown,
  config: LangGraphRunnableConfig,
  shown: ShownView,
  messagesKey: string,
) {
  if (!isParentCommand(error) || error.command.graph !== config.configurable?.checkpoint_ns)
    throw error;
  const { goto = [], update = {} } = withoutRecalled(error.command, shown);
  const values: StateValues = { ...(Array.isArray(update) ? Object.fromEntries(update) : update) };
  const given = values[messagesKey];
  const isWhole = Overwrite.isInstance(given);
  const list = [(isWhole ? given.value : given) ?? []].flat() as BaseMessageLike[];
  // They keep the ids under which they are recorded.
  const added = list.map(coerceMessageLikeToMessage);
  if (given !== undefined) values[messagesKey] = isWhole ? new Overwrite(added) : added;
  return { goto, update: values, added };
}

/** Changes from `state` to `output`, and ids of seen messages that `output` lacks. */
function messageUpdate(
  state: readonly BaseMessage[],
  { own, view, recalled }: ShownView,
  isSeen: (message: BaseMessage) => boolean,
  output: readonly BaseMessage[],
) {
  const outputIds = idsOfMessages(output);
  const missing = view.filter(
    (message) => isSeen(message) && !isMemoryBlock(message) && !outputIds.has(message.id),
  );
  const removed = missing.flatMap(({ id }) => id ?? []);
  // A message with memory before it replaces the one in the state.
  const said = output.flatMap((message) =>
    isRecalled(message) || recalled.has(message.id) ? (own.get(message.id) ?? []) : message,
  );

  const gone = new Set(removed);
  const kept = state.filter((message) => !gone.has(message.id ?? ""));
  const added = said.filter((message) => !own.has(message.id));
  const saidIds = idsOfMessages(said);
  const merged = [...kept.filter((message) => saidIds.has(message.id)), ...added];
  if (sameOrder(merged, said, own)) {
    const removals = removed.filter((id) => own.has(id)).map((id) => new RemoveMessage({ id }));
    const changed = said.filter((message) => !isSameMessage(own.get(message.id), message));
    return { messages: [...removals, ...changed], removed };
  }
  // Merging by id appends new messages; an agent that inserted one means its place.
  const hidden = kept.filter((message) => !saidIds.has(message.id));
  return { messages: new Overwrite([...hidden, ...said]), removed };
}

function idsOfMessages(messages: readonly BaseMessage[]): ReadonlySet<string | undefined> {
  return new Set(messages.map((message) => message.id));
}

/** The state's own system messages are always shown first. */
function sameOrder(
  left: readonly BaseMessage[],
  right: readonly BaseMessage[],
  own: ShownView["own"],
): boolean {
  const placed = (messages: readonly BaseMessage[]) =>
    messages
      .filter((message) => message.getType() !== "system" || !own.has(message.id))
      .map((message) => message.id);
  const other = placed(right);
  return placed(left).every((id, index) => id === other[index]);
}

/** Loading a checkpoint makes another object of an equal message. */
function isSameMessage(before: BaseMessage | undefined, after: BaseMessage): boolean {
  if (before === undefined || before === after) return before === after;
  return encodeMessage(before) === encodeMessage(after);
}
