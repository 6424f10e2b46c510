import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { MemoryError } from "../errors.js";
import { refusesLimits } from "./provider-error.js";

export interface ModelLimits {
  readonly temperature: number;
  readonly maxTokens: number;
}

/**
 * Calls `ask` with a copy of `model` within `limits`, or with `model` if its endpoint rejects them.
 */
export async function askLimited<Result>(
  model: BaseChatModel,
  limits: ModelLimits,
  ask: (model: BaseChatModel) => Promise<Result>,
): Promise<Result> {
  const limited = limitedModel(model, limits);
  if (limited === null) return ask(model);
  try {
    return await ask(limited);
  } catch (error) {
    if (!MemoryError.is(error, "MODEL_FAILED") || !refusesLimits(error)) throw error;
    return ask(model);
  }
}

// Null for derived classes, whose private state a copy would lack.
function limitedModel(
  model: BaseChatModel,
  { temperature, maxTokens }: ModelLimits,
): BaseChatModel | null {
  if (!("temperature" in model && "maxTokens" in model) || !isOfPackage(model)) return null;
  // Fields of the model's class: LangChain.js takes them from no call options.
  const { maxTokens: own = -1 } = model as { readonly maxTokens?: number };
  const most = own > 0 ? Math.min(own, maxTokens) : maxTokens;
  return modelWith(model, { temperature, maxTokens: most, maxCompletionTokens: most });
}

/** A copy with other settings; ChatOpenAI makes its bindings of the `fields` it was made of. */
export function modelWith(model: BaseChatModel, settings: object): BaseChatModel {
  const { fields } = model as { readonly fields?: object };
  const copy: BaseChatModel = Object.create(Object.getPrototypeOf(model));
  return Object.assign(copy, model, settings, fields && { fields: { ...fields, ...settings } });
}

function isOfPackage(model: BaseChatModel): boolean {
  const made = model.constructor as { readonly name: string; lc_name?(): string };
  return made.lc_name?.() === made.name;
}
