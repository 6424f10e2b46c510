import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { parseScope, type Scope } from "../domain/scope.js";
import { parseThreadId } from "../domain/thread-id.js";

/** Whose run this is, and of which conversation. */
export interface RunIdentity {
  readonly scope: Scope;
  readonly threadId: string;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * The scope and thread of a run.
 *
 * Each id comes from the first that has it: the user a LangGraph server authenticated, the run's `context`,
 * then `configurable`; as `userId` or `user_id`, and so on. Never from a model's tool arguments.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `THREAD_REQUIRED`
 */
export function runIdentity(config: LangGraphRunnableConfig | undefined): RunIdentity {
  const { scope, threadId } = idsOf(config);
  return { scope: parseScope(scope), threadId: parseThreadId(threadId) };
}

function idsOf(config: LangGraphRunnableConfig | undefined) {
  const user: Values = config?.serverInfo?.user ?? {};
  const authenticated: Values = { userId: user.identity, tenantId: user.tenant_id ?? user.tenantId };
  const configurable: Values = config?.configurable ?? {};
  const sources = [authenticated, (config?.context ?? {}) as Values, configurable];
  const find = (camel: string, snake: string) =>
    sources
      .flatMap((source) => [source[camel], source[snake]])
      .find((value) => value !== undefined && value !== null);

  const scope = {
    tenantId: find("tenantId", "tenant_id"),
    userId: find("userId", "user_id"),
    appId: find("appId", "app_id"),
  };
  return { scope, threadId: configurable.thread_id };
}

/** The scope of a run; null where it names nobody. */
export function runScope(config: LangGraphRunnableConfig | undefined): Scope | null {
  const { scope } = idsOf(config);
  return Object.values(scope).some((id) => id !== undefined && id !== null) ? parseScope(scope) : null;
}

/** `scope` as `runIdentity` reads it from a config's `configurable`. */
export function identityKeys({ tenantId, userId, appId }: Scope): Record<string, string> {
  return {
    ...(tenantId !== undefined && { tenant_id: tenantId }),
    ...(userId !== undefined && { user_id: userId }),
    ...(appId !== undefined && { app_id: appId }),
  };
}
