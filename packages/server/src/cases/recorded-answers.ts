import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { ScriptedChatModel, type ScriptedReply } from "mnemograph/testing";
import type { Answers } from "./case-file.js";

// Answers of the model of background work: recorded from a real one, and given again.

/** Answers from `answers`, by task; `lacking` names the tasks whose answers were too few. */
export function answeringModel(answers: Answers) {
  const lacking = new Set<string>();
  const model = new ScriptedChatModel({
    replies(_messages, index): ScriptedReply {
      const tasks = model.calls.slice(0, index + 1).map(({ toolNames }) => toolNames[0] ?? "words");
      const task = tasks.at(-1) as string;
      const count = tasks.filter((other) => other === task).length;
      const answer = answers[task]?.[count - 1];
      if (answer === undefined) {
        lacking.add(task);
        return new Error(`There is no answer ${count} of ${task}.`);
      }
      // A text is an answer that could not be read when it was recorded.
      if (typeof answer !== "object" || answer === null) return String(answer);
      return { structured: answer as Record<string, unknown> };
    },
  });
  return { model, lacking };
}

/** Adds each structured answer of `model` to what `current()` is. Copies of the model do as well. */
export function recordAnswers(
  model: BaseChatModel,
  current: () => Record<string, unknown[]>,
): void {
  const original = model.withStructuredOutput;
  // A property of the object, which copies of it have too.
  const recording = function (this: BaseChatModel, schema: never, options: { name: string }) {
    const bound = original.call(this, schema, options);
    const invoke = bound.invoke.bind(bound);
    bound.invoke = async (...given: Parameters<typeof invoke>) => {
      const answers = current();
      const answer = await invoke(...given);
      const { parsed, raw } = answer as { parsed?: object | null; raw?: { text?: string } };
      answers[options.name] ??= [];
      answers[options.name]?.push(parsed ?? raw?.text ?? "");
      return answer;
    };
    return bound;
  };
  Object.assign(model, { withStructuredOutput: recording });
}
