import { brokenRule, brokenSchema, type Refusals } from "./conversation-rules.js";
import { type ChatBody, chatEvents, openAIChat, readChat, wholeChat } from "./openai-chat.js";
import {
  type Answer,
  type ModelRequest,
  type Provider,
  type Refusal,
  randomId,
} from "./provider.js";
import { keywordsIn } from "./schema-rules.js";

// vLLM with a model of Mistral's: its chat template, and the checks of mistral-common.
// https://github.com/vllm-project/vllm/blob/main/examples/tool_chat_template_mistral.jinja
// https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py

const refused = (message: string): Refusal => ({
  status: 400,
  body: { error: { message, type: "BadRequestError", param: null, code: 400 } },
});

const refusals: Refusals = {
  noMessages: "Conversation must have at least one message",
  // https://github.com/vllm-project/vllm/issues/12864
  unknownField:
    "1 validation error for ChatCompletionRequest\n{place}.{what}\n  Extra inputs are not permitted [type=extra_forbidden]",
  noContent: "Assistant message must have either content or tool_calls, but not both.",
  // A second system message is out of turn as well.
  alternating:
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
  answerable:
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got {what}",
  calledFor: "Unexpected tool call id {what} in tool results",
  oneResultACall: "Not the same number of function calls and responses",
  answered: "Not the same number of function calls and responses",
};

function callIdError({ messages }: ModelRequest): Refusal | null {
  const ids = messages.flatMap(({ calls, results }) => [...calls, ...results]);
  const odd = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  if (odd === undefined) return null;
  return refused(`Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`);
}

// https://github.com/vllm-project/vllm/blob/main/vllm/v1/structured_output/backend_xgrammar.py
const unsupported =
  "multipleOf uniqueItems contains minContains maxContains patternProperties propertyNames";

/** It knows no refusals: a model that declines says so. */
const spoken = (answer: Answer): Answer => ({
  ...answer,
  text: answer.refusal ?? answer.text,
  refusal: null,
});

export const strictCompatible: Provider<ChatBody> = {
  ...openAIChat,
  callId: () => randomId().slice(0, 9),
  read(body) {
    const said = "role content";
    const assistant = "role content tool_calls";
    const tool = "role content name tool_call_id";
    return readChat(body, { system: said, user: said, assistant, tool });
  },
  refusalOf: (request) =>
    brokenRule(request, refusals, refused) ??
    callIdError(request) ??
    brokenSchema(
      request,
      (schema) => keywordsIn(schema, unsupported)[0] ?? null,
      () => refused("The provided JSON schema contains features not supported by xgrammar."),
    ),
  tooLong: (tokens, limit) =>
    refused(
      `This model's maximum context length is ${limit} tokens. However, your request has ${tokens} input tokens. Please reduce the length of the input messages.`,
    ),
  whole: (answer) => wholeChat(spoken(answer)),
  events: (answer) => chatEvents(spoken(answer)),
};
