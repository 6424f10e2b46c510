import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { MemoryError } from "../errors.js";

/** How much a model may say, and how freely. */
export interface ModelLimits {
  readonly temperature: number;
  /** Most tokens of an answer. */
  readonly maxTokens: number;
}

/**
 * What `ask` gives with a copy of `model` that answers within `limits`; of a model that has no such settings, with the
 * model as it is. One whose endpoint refuses them, as reasoning models do, is asked without.
 *
 * @throws what `ask` throws.
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
    if (!isRefusal(error)) throw error;
    return ask(model);
  }
}

/** A model's own settings, where its class keeps them in fields: in JavaScript no LangChain call takes them as options. */
interface Settings {
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** What ChatOpenAI makes its copies from. */
  readonly fields?: object | undefined;
}

/**
 * A copy of `model` with `limits`, or with fewer tokens where it has fewer; null where it cannot be made.
 *
 * Only of a class of a package: what somebody derived from one may keep things where no copy has them.
 */
function limitedModel(model: BaseChatModel, { temperature, maxTokens }: ModelLimits): BaseChatModel | null {
  if (!("temperature" in model && "maxTokens" in model) || !isOfPackage(model)) return null;
  const { fields, maxTokens: own = -1 } = model as Settings;
  const settings = { temperature, maxTokens: own > 0 ? Math.min(own, maxTokens) : maxTokens };
  // ChatOpenAI prefers it to `maxTokens`.
  const spoken = { ...fields, ...settings, maxCompletionTokens: settings.maxTokens };
  const copy: BaseChatModel = Object.create(Object.getPrototypeOf(model));
  return Object.assign(copy, model, settings, fields && { fields: spoken });
}

function isOfPackage(model: BaseChatModel): boolean {
  const made = model.constructor as { readonly name: string; lc_name?(): string };
  return made.lc_name?.() === made.name;
}

/** Whether an endpoint or client would not take the settings. */
function isRefusal(error: unknown): boolean {
  if (!MemoryError.is(error, "MODEL_FAILED") || !(error.cause instanceof Error)) return false;
  const { message, status } = error.cause as Error & { status?: unknown };
  return status === 400 || /temperature|max_?(?:completion_)?tokens/i.test(message);
}
