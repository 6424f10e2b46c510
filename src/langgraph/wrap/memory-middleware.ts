import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import {
  getConfig,
  isGraphBubbleUp,
  type LangGraphRunnableConfig,
  MessagesValue,
  ReducedValue,
  StateSchema,
} from "@langchain/langgraph";
import { z } from "zod";
import { internalApi } from "../../internal-api.js";
import type { Memory } from "../../memory.js";
import { isRepair } from "../../messages/answered-calls.js";
import { contentParts } from "../../messages/message-text.js";
import { isMemoryBlock } from "../../messages/recalled-mark.js";
import { withoutOldResults } from "../../messages/tool-results.rule.js";
import { withAdvice } from "../../prompt/explain-refusal.js";
import type { Recalled } from "../../prompt/recalled.js";
import type { InjectAs } from "../../prompt/turn-messages.js";
import type { RecallMode } from "../../search/retrieval-options.js";
import { modelView } from "../nodes/model-view.js";
import { recalling } from "../nodes/recall-node.js";
import { remembering } from "../nodes/remember-node.js";
import { checkOptions, type TurnOptions, turnOptionsSchema } from "../run/node-options.js";
import { runScope } from "../run/run-identity.js";
import { recalledByRun } from "../run/run-state.js";
import { memoryKey } from "../run/state-fields.js";
import { memoryManageTool } from "../tools/memory-manage-tool.js";
import { memoryQueryTool } from "../tools/memory-query-tool.js";
import { transcriptSearchTool } from "../tools/transcript-search-tool.js";
import { withCacheBreakpoints } from "./cache-breakpoints.js";

/** Whose run it is and how it recalls, as `context` names it: `configurable` may name the same. */
const contextSchema = z.object({
  ...contextFields("userId", "user_id", "tenantId", "tenant_id", "appId", "app_id"),
  ...contextFields("agentId", "agent_id", "runId", "run_id", "timeZone", "time_zone"),
  memoryMode: z.custom<RecallMode | null>().optional(),
  memory_mode: z.custom<RecallMode | null>().optional(),
});

/** Typed only: the run's checks name the key and say what to do. */
function contextFields<Name extends string>(...names: Name[]) {
  const field = z.custom<string | null>().optional();
  return Object.fromEntries(names.map((name) => [name, field])) as { [N in Name]: typeof field };
}

const toolsByName = {
  query: memoryQueryTool,
  transcript: transcriptSearchTool,
  manage: memoryManageTool,
};

export interface MemoryMiddlewareOptions extends TurnOptions {
  /**
   * Tools for the model: "query" finds memories, "transcript" what was said; "manage" adds, changes
   * and forgets memories when the user asks.
   * @default none
   */
  readonly tools?: readonly (keyof typeof toolsByName)[] | undefined;
  /**
   * Gives tools `runtime.store`, whose items belong to the run's user; an agent's own store wins.
   * Write `runtime.store as BaseStore | null`, of `@langchain/langgraph`: langchain's type has no
   * `put`.
   * @default false
   */
  readonly store?: boolean | undefined;
}

const optionsSchema = turnOptionsSchema.extend({
  tools: z.array(z.enum(Object.keys(toolsByName) as [keyof typeof toolsByName])).optional(),
  store: z.boolean().optional(),
});

/**
 * What `createMiddleware` makes, written out: `langchain` is optional, and adds a fifth to the time
 * of an import.
 */
export interface MemoryMiddleware {
  readonly name: "memory";
  readonly contextSchema: typeof contextSchema;
  readonly tools: readonly DynamicStructuredTool[];
  beforeAgent(state: MessagesState, runtime: HookRuntime): Promise<void>;
  wrapModelCall<Request extends ModelRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ): Promise<Answer>;
  wrapToolCall?<Request extends ToolRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ): Promise<Answer>;
  afterAgent(
    state: MessagesState,
    runtime: HookRuntime,
  ): Promise<{ messages?: BaseMessage[] } | undefined>;
  /** A phantom type that LangChain's inference reads. */
  readonly "~middlewareTypes"?: {
    Schema: undefined;
    ContextSchema: typeof contextSchema;
    // biome-ignore lint/suspicious/noExplicitAny: as LangChain has it.
    FullContext: any;
    Tools: readonly DynamicStructuredTool[];
    StreamTransformers: readonly [];
  };
}

type MessagesState = { messages: BaseMessage[] };

type HookRuntime = Pick<
  LangGraphRunnableConfig,
  "configurable" | "writer" | "signal" | "store" | "context"
>;

interface ModelRequest extends MessagesState {
  systemMessage: SystemMessage;
  readonly runtime: HookRuntime;
  readonly model?: unknown;
  readonly state?: Partial<MessagesState>;
}

interface ToolRequest {
  readonly runtime: HookRuntime;
  // biome-ignore lint/suspicious/noExplicitAny: tools of all kinds.
  readonly tool?: any;
}

/** `createMiddleware` sets it, and `langchain` recognises middleware by it. */
const brand = Symbol.for("AgentMiddleware");

/**
 * Memory for an agent of `createAgent`: recalls before it, remembers after it. Each model call sees
 * the summary, later messages, and the run's; the agent's state is unchanged. Memory is messages of
 * its own before the user's. Put it first, so that it records what the
 * others leave. Older tool results beyond `context.toolResultTokens` become a line each. Sets
 * Anthropic's cache breakpoints. An agent within a tool is recorded apart from the conversation.
 * LangChain's `summarizationMiddleware` takes over the summaries.
 * @example
 * ```ts
 * const middleware = [memoryMiddleware(memory, { tools: ["query"] })];
 * const agent = createAgent({ model, middleware, checkpointer: memory.checkpointer() });
 * // agent.invoke({ messages }, { configurable: { thread_id: "t1" }, context: { userId: "ana" } })
 * ```
 * @throws MemoryError `INVALID_INPUT` for unknown options; in the run `SCOPE_REQUIRED`,
 * `INVALID_INPUT`, `THREAD_FORBIDDEN`, even with `onError: "continue"`
 */
export function memoryMiddleware(
  memory: Memory,
  options: MemoryMiddlewareOptions = {},
): MemoryMiddleware {
  checkOptions(memory, optionsSchema, options, "memoryMiddleware");
  const { tools = [], store = false, ...turn } = options;
  const recall = recalling(memory, turn);
  const remember = remembering(memory, turn);
  const runs = recalledByRun();
  const warn = warnOnce(memory);
  const recallNow = async (state: MessagesState, config: LangGraphRunnableConfig) => {
    const { [memoryKey]: recalled = null } = await recall({ messages: state.messages }, config);
    runs.set(config, recalled);
    return recalled;
  };

  const middleware: MemoryMiddleware = {
    name: "memory",
    contextSchema,
    tools: [...new Set(tools)].map((name) => toolsByName[name](memory, agentOf(name, turn))),
    async beforeAgent(state, runtime) {
      const recalled = await recallNow(state, hookConfig(runtime));
      if (recalled?.edited?.some((message) => message.getType() === "ai"))
        warn(
          "answer",
          "An answer was changed after memory recorded it. If a middleware did, put memoryMiddleware first in " +
            "`middleware`, so that it records what the others leave.",
        );
    },
    async wrapModelCall(request, handler) {
      const config = hookConfig(request.runtime);
      // Earlier middleware clears for this call only.
      const messages = [...request.messages];
      restoreMessages(request.state?.messages);
      const known = runs.get(config);
      // A run resumed after an interrupt starts here.
      const recalled = known === undefined ? await recallNow(request, config) : known;
      const asked = shown({ ...request, messages }, recalled, options.injectAs);
      if (asked.messages.some(isRepair))
        warn(
          "calls",
          `Thread ${config.configurable?.thread_id} has earlier tool calls without a result, or turns without an answer: an ` +
            "approval was never answered, a run failed, or the model refused. Prompts say so; the state stays as it is.",
        );
      const toolResultTokens = internalApi(memory).toolResultTokens();
      asked.messages = withoutOldResults(asked.messages, toolResultTokens);
      if (recalled?.epoch.handed?.noted)
        recalled.epoch.handed.noted.toolResultTokens = toolResultTokens;
      const model = withCacheBreakpoints(request.model);
      return await withAdvice(handler({ ...asked, model }), options.injectAs);
    },
    async afterAgent(state, runtime) {
      const config = hookConfig(runtime);
      const { messages } = await remember({ ...state, [memoryKey]: runs.get(config) }, config);
      return messages ? { messages: messages as BaseMessage[] } : undefined;
    },
    ...(store && { wrapToolCall: withStore(memory) }),
  };
  return Object.assign(middleware, { [brand]: true, stateSchema: guardedMessages });
}

/** The transcript has no allowlists. */
function agentOf(name: keyof typeof toolsByName, { agent }: TurnOptions) {
  return name === "transcript" || agent === undefined ? {} : { agent };
}

/** LangGraph's config. Web builds do not keep it, so the hook's runtime is merged in. */
function hookConfig(runtime: HookRuntime): LangGraphRunnableConfig {
  const config = getConfig() as LangGraphRunnableConfig | undefined;
  return { ...config, ...runtime, context: { ...config?.context, ...runtime.context } };
}

function withStore(memory: Memory): NonNullable<MemoryMiddleware["wrapToolCall"]> {
  return async (request, handler) => {
    const { tool, runtime } = request;
    if (!tool) return handler(request);
    const store = runtime.store ?? memory.store({ scope: runScope(hookConfig(runtime), memory) });
    let failure: unknown;
    const invoke = async (input: unknown, config: object) => {
      try {
        return await tool.invoke(input, { ...config, store });
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    try {
      return await handler({ ...request, tool: Object.assign(Object.create(tool), { invoke }) });
    } catch (error) {
      // LangChain answers the model with a tool's error, but lets one through that passed a
      // middleware, unless so marked.
      if (error !== failure || isGraphBubbleUp(error) || runtime.signal?.aborted) throw error;
      const answer = new Error(`${error}\n Please fix your mistakes.`, { cause: error });
      throw Object.assign(answer, { "~brand": "ToolInvocationError" });
    }
  };
}

/** Warns once about each. */
function warnOnce(memory: Memory) {
  const told = new Set<string>();
  return (about: "answer" | "calls", warning: string) => {
    if (!told.has(about)) internalApi(memory).warn(warning);
    told.add(about);
  };
}

/** Agents have one system message, so the block is appended. */
function shown<Request extends ModelRequest>(
  request: Request,
  recalled: Recalled | null,
  injectAs?: InjectAs,
): Request {
  const messages = modelView(request.messages, recalled, injectAs);
  const place = messages.findIndex(
    (message) => message.getType() === "system" && isMemoryBlock(message),
  );
  const block = messages[place];
  if (block === undefined) return { ...request, messages };
  const { systemMessage } = request;
  const parts = [systemMessage, block].flatMap(({ content }) => contentParts(content));
  const content = parts.length === 1 ? block.content : parts;
  return {
    ...request,
    systemMessage: new SystemMessage({ ...systemMessage, content }),
    messages: messages.toSpliced(place, 1),
  };
}

/** A copy of each list that the reducer returned. */
const asReduced = new WeakMap<readonly BaseMessage[], readonly BaseMessage[]>();

/** Clients recognise the state's messages by it. */
const messagesField = z.any().meta({ ...MessagesValue.jsonSchemaExtra });

/**
 * The agent's `messages`; `restoreMessages` undoes in-place edits, as of
 * `contextEditingMiddleware`.
 */
const guardedMessages = new StateSchema({
  messages: new ReducedValue(
    messagesField.default(() => []).meta({ ...MessagesValue.jsonSchemaExtra }),
    {
      inputSchema: messagesField,
      reducer: (before: BaseMessage[], update: Parameters<typeof MessagesValue.reducer>[1]) => {
        const messages = MessagesValue.reducer(before, update);
        asReduced.set(messages, [...messages]);
        return messages;
      },
    },
  ),
});

/** Undoes in-place changes of a list of the state. */
function restoreMessages(messages: BaseMessage[] | undefined): void {
  const whole = messages && asReduced.get(messages);
  if (whole) messages.splice(0, messages.length, ...whole);
}
