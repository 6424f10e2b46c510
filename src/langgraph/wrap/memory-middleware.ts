import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import { getConfig, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { isMemoryBlock } from "../../conversation/recalled-mark.js";
import { internalApi } from "../../internal-api.js";
import type { Memory } from "../../memory.js";
import { contentParts } from "../../text/message-text.js";
import type { Recalled } from "../../turns/recalled.js";
import type { InjectAs } from "../../turns/turn-messages.js";
import { modelView } from "../nodes/model-view.js";
import { recalling } from "../nodes/recall-node.js";
import { remembering } from "../nodes/remember-node.js";
import { checkOptions, type TurnOptions, turnOptionsSchema } from "../run/node-options.js";
import { recalledByRun } from "../run/run-state.js";
import { memoryKey } from "../run/state-fields.js";
import { withCacheBreakpoints } from "./cache-breakpoints.js";
import { guardedMessages, restoreMessages } from "./guarded-messages.js";
import { withoutOldResults } from "./tool-results.rule.js";

/** Written out, since `langchain` is optional. */
export interface MemoryMiddleware {
  readonly name: "memory";
  beforeAgent(state: AgentState): Promise<void>;
  wrapModelCall<Request extends ModelRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ): Promise<Answer>;
  afterAgent(state: AgentState): Promise<{ messages?: BaseMessage[] } | undefined>;
}

type AgentState = { messages: BaseMessage[] };

interface ModelRequest extends AgentState {
  systemMessage: SystemMessage;
  readonly model?: unknown;
  readonly state?: Partial<AgentState>;
}

/** `createMiddleware` sets it, and `langchain` recognises middleware by it. */
const brand = Symbol.for("AgentMiddleware");

/**
 * Memory for an agent of `createAgent`: recalls before it, remembers after it. Each model call sees the summary, later
 * messages, and the run's; the agent's state is unchanged. The block ends the system message, or precedes the current
 * user message. Put it first, so that it records what the others leave. Older tool results beyond
 * `context.toolResultTokens` become a line each. Sets Anthropic's cache breakpoints. An agent within a tool is recorded
 * apart from the conversation. LangChain's `summarizationMiddleware` takes over the summaries.
 * @throws MemoryError `INVALID_INPUT` for unknown options; in the run `SCOPE_REQUIRED`, `INVALID_INPUT`,
 * `THREAD_FORBIDDEN`, even with `onError: "continue"`
 */
export function memoryMiddleware(memory: Memory, options: TurnOptions = {}): MemoryMiddleware {
  checkOptions(memory, turnOptionsSchema, options, "memoryMiddleware");
  const recall = recalling(memory, options);
  const remember = remembering(memory, options);
  const runs = recalledByRun();
  const recallNow = async (state: AgentState, config: LangGraphRunnableConfig) => {
    const { [memoryKey]: recalled = null } = await recall({ messages: state.messages }, config);
    runs.set(config, recalled);
    return recalled;
  };

  const middleware: MemoryMiddleware = {
    name: "memory",
    async beforeAgent(state) {
      await recallNow(state, getConfig());
    },
    async wrapModelCall(request, handler) {
      const config = getConfig();
      // Earlier middleware clears for this call only.
      const messages = [...request.messages];
      restoreMessages(request.state?.messages);
      const known = runs.get(config);
      // A run resumed after an interrupt starts here.
      const recalled = known === undefined ? await recallNow(request, config) : known;
      const view = shown({ ...request, messages }, recalled, options.injectAs ?? "system");
      return await handler({
        ...request,
        ...view,
        messages: withoutOldResults(view.messages, internalApi(memory).toolResultTokens()),
        model: withCacheBreakpoints(request.model),
      });
    },
    async afterAgent(state) {
      const config = getConfig();
      const { messages } = await remember({ ...state, [memoryKey]: runs.get(config) }, config);
      return messages ? { messages: messages as BaseMessage[] } : undefined;
    },
  };
  return Object.assign(middleware, { [brand]: true, stateSchema: guardedMessages });
}

/** Agents have one system message, so the block is appended. */
function shown(request: ModelRequest, recalled: Recalled | null, injectAs: InjectAs) {
  const view = modelView(request.messages, recalled, injectAs);
  const block = view.find(isMemoryBlock);
  if (block === undefined) return { messages: view };
  const { systemMessage } = request;
  const parts = [systemMessage, block].flatMap(({ content }) => contentParts(content));
  const whole = parts.length === 1 ? block.content : parts;
  return {
    systemMessage: new SystemMessage({ ...systemMessage, content: whole }),
    messages: view.filter((message) => message !== block),
  };
}
