import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import { getConfig, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { isMemoryBlock } from "../../conversation/recalled-mark.js";
import type { Memory } from "../../memory.js";
import type { Recalled } from "../../rounds/recalled.js";
import { modelView } from "../nodes/model-view.js";
import { recalling } from "../nodes/recall-node.js";
import { remembering } from "../nodes/remember-node.js";
import { checkOptions, type InjectAs, type RoundOptions, roundOptions } from "../run/node-options.js";
import { recalledByRun } from "../run/run-state.js";
import { memoryKey } from "../run/state-fields.js";

/**
 * How the middleware works. The memory block goes to the end of the agent's system message, or in front of the current
 * user message.
 */
export interface MemoryMiddlewareOptions extends RoundOptions {}

/** A middleware for `createAgent` of `langchain`. Its types are written out, since that package is optional. */
export interface MemoryMiddleware {
  readonly name: "memory";
  beforeAgent(state: AgentState): Promise<void>;
  wrapModelCall<Request extends ModelRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ): Promise<Answer>;
  afterAgent(state: AgentState): Promise<{ messages?: BaseMessage[] } | undefined>;
}

/** The state of an agent of `createAgent`, as far as memory reads it. */
interface AgentState {
  messages: BaseMessage[];
}

/** A call of the agent's model, as far as memory reads and changes it. */
interface ModelRequest extends AgentState {
  systemMessage: SystemMessage;
}

/** How `langchain` tells a middleware from other objects: `createMiddleware` sets it and copies the hooks. */
const brand = Symbol.for("AgentMiddleware");

/**
 * Memory for an agent made by `createAgent`: recall before it, remember after it.
 *
 * Every model call of a run is shown the summary, what came after it, and the messages of the run; the agent's
 * own state stays as it is. Put it first in the list: then it records what the others leave.
 *
 * @throws MemoryError `INVALID_INPUT` for options that there are not; in the run `SCOPE_REQUIRED`, `INVALID_INPUT`,
 *   `THREAD_FORBIDDEN` whatever `onError` says.
 */
export function memoryMiddleware(memory: Memory, options: MemoryMiddlewareOptions = {}): MemoryMiddleware {
  checkOptions(memory, roundOptions, options, "memoryMiddleware");
  const recall = recalling(memory, options);
  const remember = remembering(memory, options);
  const runs = recalledByRun(memory);
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
      const known = runs.get(config);
      // A run resumed after an interrupt begins here.
      const recalled = known === undefined ? await recallNow(request, config) : known;
      return await handler({ ...request, ...shown(request, recalled, options.injectAs ?? "system") });
    },
    async afterAgent(state) {
      const config = getConfig();
      const { messages } = await remember({ ...state, [memoryKey]: runs.get(config) }, config);
      return messages ? { messages: messages as BaseMessage[] } : undefined;
    },
  };
  return Object.assign(middleware, { [brand]: true });
}

/** The request's messages as memory shows them; the block becomes part of the one system message agents have. */
function shown(request: ModelRequest, recalled: Recalled | null, injectAs: InjectAs): Partial<ModelRequest> {
  const view = modelView(request.messages, recalled, injectAs);
  const block = view.find(isMemoryBlock);
  if (block === undefined) return { messages: view };
  const { systemMessage } = request;
  const text = systemMessage.text === "" ? block.text : `\n\n${block.text}`;
  return {
    systemMessage:
      typeof systemMessage.content === "string"
        ? new SystemMessage({ ...systemMessage, content: systemMessage.content + text })
        : new SystemMessage({
            ...systemMessage,
            content: [...systemMessage.content, { type: "text", text }],
          }),
    messages: view.filter((message) => message !== block),
  };
}
