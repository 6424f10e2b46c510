import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { MemoryError } from "../../errors.js";
import type { Memory } from "../../memory.js";
import { parseScope, parseThreadId, type Scope } from "../../scope/scope.js";
import { type RecallMode, recallModeSchema } from "../../search/retrieval-options.js";
import { parseInput } from "../../text/parse-input.js";
import { isStorable } from "../../text/storable-text.js";
import { wayIn } from "../../way-in.js";

/** Whose run this is, and of which conversation. */
export interface RunIdentity {
  readonly scope: Scope;
  readonly threadId: string;
}

/** The scope and thread of a run. @throws MemoryError `SCOPE_REQUIRED` as `runScope` does, `INVALID_INPUT` */
export function runIdentity(config: LangGraphRunnableConfig | undefined, memory: Memory): RunIdentity {
  return { scope: runScope(config, memory), threadId: parseThreadId(config?.configurable?.thread_id) };
}

/**
 * The scope of a run, also from the bare config that checkpoint savers are given. Never from a model's tool arguments.
 *
 * Ids are read as `userId` or `user_id`, and so on, from the run's `context` and `configurable`; user and tenant also
 * from the user that a LangGraph server authenticated: `serverInfo.user`, `configurable.langgraph_auth_user` and
 * `langgraph_auth_user_id`. An id may be named in several places, but everywhere alike: where two differ, one of them
 * is a client's, and nothing here says which. Of an authenticated user the tenant is the one that the server gave, or
 * none.
 *
 * Without a server that authenticates, nobody has checked `langgraph_auth_user` either: it names a user as any other
 * key does, and must agree with them. Null and undefined name nothing, since LangGraph's development server sets
 * `user_id` in every run.
 *
 * A run that names nobody at all has the memory's default scope. It does not complete what a run names, and is nobody's
 * where a server has authenticated someone, whatever that someone is called.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, also for ids that are ambiguous; it names the keys and not what they hold.
 */
export function runScope(config: LangGraphRunnableConfig | undefined, memory: Memory): Scope {
  const scope = findRunScope(config, wayIn(memory).defaultScope());
  if (scope !== null) return scope;
  throw new MemoryError(
    "SCOPE_REQUIRED",
    `This run does not say whose memory it has. ${whereScopesComeFrom}`,
  );
}

/** The same; null where the run names nobody and there is no default. */
export function findRunScope(
  config: LangGraphRunnableConfig | undefined,
  defaultScope: Scope | null,
): Scope | null {
  const ids = namedIds(config);
  if (Object.keys(ids).length === 0) return isAuthenticated(config) ? null : defaultScope;
  if (ids.userId !== undefined || ids.appId !== undefined) return parseScope(ids);
  throw new MemoryError(
    "SCOPE_REQUIRED",
    `This run names a tenant, but no user and no app. ${whereScopesComeFrom}`,
  );
}

const whereScopesComeFrom =
  "Name its user: graph.invoke(input, { configurable: { thread_id: …, user_id: … } }), or `app_id`, or both; `context` may hold " +
  "them as well, and a LangGraph server that authenticates gives the user by itself. " +
  "For Studio and apps of one user: createMemory({ defaultScope: { userId: … } }).";

/**
 * Whether a run is shown memories, where it says so itself: `memoryMode` or `memory_mode` of its `context` or
 * `configurable`.
 *
 * @throws MemoryError `INVALID_INPUT` for another mode.
 */
export function runMode(config: LangGraphRunnableConfig | undefined): RecallMode | undefined {
  const keys = ["memoryMode", "memory_mode"];
  const [said] = [
    ...named("context", valuesOf(config?.context), keys),
    ...named("configurable", valuesOf(config?.configurable), keys),
  ];
  return said && parseInput(recallModeSchema, said.value, said.key);
}

/** Under which agent and run something is said or done. Labels: they open nothing, so a client may name them. */
export interface RunOrigin {
  readonly agentId?: string;
  readonly runId?: string;
}

/**
 * The agent and the run of a config: `agent` where the program named it, else `agent_id` or `agentId` of `context` or
 * `configurable`; `run_id` or `runId` of the same, of `metadata`, or the `runId` that the run was started with. What is
 * no text, or blank, names nothing.
 */
export function runOrigin(config: LangGraphRunnableConfig | undefined, agent?: string): RunOrigin {
  const places = [config?.context, config?.configurable, config?.metadata].map(valuesOf);
  const label = (camel: string, snake: string) =>
    places.flatMap((place) => [place[camel], place[snake]]).find(isLabel);
  const agentId = agent ?? label("agentId", "agent_id");
  const runId = label("runId", "run_id") ?? config?.executionInfo?.runId;
  return { ...(agentId !== undefined && { agentId }), ...(runId !== undefined && { runId }) };
}

/** The same with the run's thread, where it has one. */
export function runPlace(
  config: LangGraphRunnableConfig | undefined,
  agent?: string,
): RunOrigin & { readonly threadId?: string } {
  const threadId: unknown = config?.configurable?.thread_id;
  return { ...(isLabel(threadId) && { threadId }), ...runOrigin(config, agent) };
}

/** Longest label kept: ids have some dozens of characters. */
const mostLabelCharacters = 200;

function isLabel(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= mostLabelCharacters &&
    isStorable(value)
  );
}

/** `scope` as it stands in a config's `configurable`. */
export function identityKeys({ tenantId, userId, appId }: Scope): Record<string, string> {
  return {
    ...(tenantId !== undefined && { tenant_id: tenantId }),
    ...(userId !== undefined && { user_id: userId }),
    ...(appId !== undefined && { app_id: appId }),
  };
}

/** The ids that a config names, not checked yet but for being the same wherever they stand. */
function namedIds(config: LangGraphRunnableConfig | undefined): Record<string, unknown> {
  const configurable = valuesOf(config?.configurable);
  const authUser = valuesOf(configurable.langgraph_auth_user);
  const serverUser = valuesOf(config?.serverInfo?.user);
  const authenticated = [
    authenticatedIds("serverInfo.user", serverUser),
    authenticatedIds("configurable.langgraph_auth_user", authUser),
    {
      user: named("configurable", configurable, ["langgraph_auth_user_id"]),
      tenant: [],
    },
  ];
  const client = (camel: string, snake: string) => [
    ...named("context", valuesOf(config?.context), [camel, snake]),
    ...named("configurable", configurable, [camel, snake]),
  ];
  const users = [...authenticated.flatMap(({ user }) => user), ...client("userId", "user_id")];
  const tenants = [...authenticated.flatMap(({ tenant }) => tenant), ...client("tenantId", "tenant_id")];
  const ids = {
    tenantId: agreed("tenantId", tenants),
    userId: agreed("userId", users),
    appId: agreed("appId", client("appId", "app_id")),
  };
  const server = authenticated.find(({ user }) => user.length > 0);
  if (server && server.tenant.length === 0 && tenants.length > 0) throw tenantOfNobody(tenants);
  return Object.fromEntries(Object.entries(ids).filter(([, id]) => id !== undefined));
}

/** Whether a server has looked at who asks. */
function isAuthenticated(config: LangGraphRunnableConfig | undefined): boolean {
  const { langgraph_auth_user, langgraph_auth_user_id } = valuesOf(config?.configurable);
  return [config?.serverInfo?.user, langgraph_auth_user, langgraph_auth_user_id].some(
    (user) => user !== undefined && user !== null,
  );
}

type Values = Readonly<Record<string, unknown>>;

/** An id, and where it stands. */
interface NamedId {
  readonly key: string;
  readonly value: unknown;
}

function valuesOf(source: unknown): Values {
  return typeof source === "object" && source !== null ? (source as Values) : {};
}

function named(place: string, values: Values, keys: readonly string[]): NamedId[] {
  return keys
    .map((key) => ({ key: `${place}.${key}`, value: values[key] }))
    .filter(({ value }) => value !== undefined && value !== null);
}

function authenticatedIds(place: string, user: Values) {
  return {
    user: named(place, user, ["identity"]),
    tenant: named(place, user, ["tenantId", "tenant_id"]),
  };
}

/** The one value that all of `ids` name; undefined when there are none. */
function agreed(name: string, ids: readonly NamedId[]): unknown {
  const [first, ...others] = ids;
  if (others.every(({ value }) => value === first?.value)) return first?.value;
  throw new MemoryError(
    "SCOPE_REQUIRED",
    `Whose run this is, is ambiguous: ${keysOf(ids)} name different values of ${name}. ` +
      "Have one of your own programs name it, and take these keys out of what clients send.",
  );
}

function tenantOfNobody(tenants: readonly NamedId[]): MemoryError {
  return new MemoryError(
    "SCOPE_REQUIRED",
    `Whose run this is, is ambiguous: ${keysOf(tenants)} name a tenant, and the authenticated user has none. ` +
      "Return `tenant_id` where the user is authenticated; clients must not name it.",
  );
}

function keysOf(ids: readonly NamedId[]): string {
  return [...new Set(ids.map(({ key }) => key))].join(", ");
}

/** What the ids of tasks begin with. */
export const taskId = "mnemograph.task.";

/**
 * Whether `message` is a task that one agent gave another as if a user had said it: its words are a model's. Who names
 * a message of their own so only gives up that it counts as a user's consent.
 */
export function isDelegated(message: BaseMessage): boolean {
  return message.id?.startsWith(taskId) ?? false;
}
