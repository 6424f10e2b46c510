import { getConfig, type LangGraphRunnableConfig } from "@langchain/langgraph";
import type { z } from "zod";
import { MemoryError } from "../../errors.js";
import { parseInput } from "../../input/parse-input.js";
import { internalApi } from "../../internal-api.js";
import type { Memory } from "../../memory.js";
import { parseScope, parseThreadId, type Scope, type ThreadAddress } from "../../scope/scope.js";
import { type RecallMode, recallModeSchema } from "../../search/retrieval-options.js";
import { isStorable } from "../../text/storable-text.js";
import { timeZoneField } from "../../text/time-zone.js";

export type RunIdentity = ThreadAddress;

export function runIdentity(
  config: LangGraphRunnableConfig | undefined,
  memory: Memory,
): RunIdentity {
  return {
    scope: runScope(config, memory),
    threadId: parseThreadId(config?.configurable?.thread_id),
  };
}

/**
 * The scope of a run or of a checkpointer's config, never from a model's tool arguments. Reads
 * `userId` or `user_id`, and so on, from `context` and `configurable`; user and tenant also from a
 * LangGraph server's `serverInfo.user`, `configurable.langgraph_auth_user` and
 * `langgraph_auth_user_id`. All places must agree, since a client may have set one. An
 * authenticated user has the server's tenant or none. Without authentication `langgraph_auth_user`
 * is unchecked, like any other key. Null names nothing: LangGraph's development server sets
 * `user_id` in every run. A run without ids has the default scope, unless a server authenticated
 * its user.
 * @throws MemoryError `SCOPE_REQUIRED`, also for ambiguous ids; it names the keys, not their values
 */
export function runScope(config: LangGraphRunnableConfig | undefined, memory: Memory): Scope {
  return requireRunScope(config, internalApi(memory).defaultScope());
}

function requireRunScope(
  config: LangGraphRunnableConfig | undefined,
  defaultScope: Scope | null,
): Scope {
  const scope = findRunScope(config, defaultScope);
  if (scope !== null) return scope;
  throw new MemoryError(
    "SCOPE_REQUIRED",
    `This run does not say whose memory it has. ${whereScopesComeFrom}`,
  );
}

/**
 * For `memory.store({ scope: fromRun })`: each call belongs to the LangGraph run that makes it, as
 * its nodes do.
 * @example
 * ```ts
 * const store = memory.store({ scope: fromRun }); // for nodes and tools, and for deepagents' StoreBackend
 * ```
 * @throws MemoryError `SCOPE_REQUIRED` outside of a run, also where LangGraph calls a graph's own
 * `store`
 */
export function fromRun(_namespace: readonly string[], defaultScope: Scope | null): Scope {
  const config = getConfig() as LangGraphRunnableConfig | undefined;
  if (config !== undefined) return requireRunScope(config, defaultScope);
  throw new MemoryError(
    "SCOPE_REQUIRED",
    "This store belongs to the LangGraph run that calls it (`scope: fromRun`), and no run does. Call it in a node or a " +
      "tool; elsewhere use memory.store({ scope: { userId: … } }).",
  );
}
fromRun.readsRun = true as const;

/** Null for a run without ids if there is no default. */
export function findRunScope(
  config: LangGraphRunnableConfig | undefined,
  defaultScope: Scope | null,
): Scope | null {
  const owner = namedOwner(config);
  return owner === "stranger" ? null : (owner ?? defaultScope);
}

/** Whom a config names: null for nobody, "stranger" for an authenticated user without an id. */
export function namedOwner(config: LangGraphRunnableConfig | undefined): Scope | "stranger" | null {
  const { ids, isAuthenticated } = namedIds(config);
  if (Object.keys(ids).length === 0) return isAuthenticated ? "stranger" : null;
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
 * `memoryMode` or `memory_mode` of `context` or `configurable`.
 * @throws MemoryError `INVALID_INPUT`
 */
export function runMode(config: LangGraphRunnableConfig | undefined): RecallMode | undefined {
  return runValue(config, recallModeSchema, ["memoryMode", "memory_mode"]);
}

/** `timeZone` or `time_zone` of `context` or `configurable`. @throws MemoryError `INVALID_INPUT` */
export function runTimeZone(config: LangGraphRunnableConfig | undefined): string | undefined {
  return runValue(config, timeZoneField, ["timeZone", "time_zone"]);
}

function runValue<Value>(
  config: LangGraphRunnableConfig | undefined,
  schema: z.ZodType<Value>,
  keys: readonly string[],
): Value | undefined {
  const [found] = namedIdsIn(placesOf(config), ...keys);
  return found && parseInput(schema, found.value, found.key);
}

/** Labels that grant nothing, so clients may set them. Searches `agent`, `context`, `configurable`, `metadata`, then LangGraph's run id. */
export function runOrigin(config: LangGraphRunnableConfig | undefined, agent?: string) {
  const places = Object.values({ ...placesOf(config), metadata: config?.metadata }).map(valuesOf);
  const label = (camel: string, snake: string) =>
    places.flatMap((place) => [place[camel], place[snake]]).find(isLabel);
  const agentId = agent ?? label("agentId", "agent_id");
  const runId = label("runId", "run_id") ?? config?.executionInfo?.runId;
  return { ...(agentId !== undefined && { agentId }), ...(runId !== undefined && { runId }) };
}

/** Whose memory a tool reads, and from where. One bound to a scope works without a thread too. */
export function runAsker(
  config: LangGraphRunnableConfig | undefined,
  memory: Memory,
  bound: { readonly scope?: Scope | undefined; readonly agent?: string | undefined },
) {
  const threadId: unknown = config?.configurable?.thread_id;
  const origin = { ...(isLabel(threadId) && { threadId }), ...runOrigin(config, bound.agent) };
  return bound.scope
    ? { ...origin, scope: bound.scope }
    : { ...origin, ...runIdentity(config, memory) };
}

const maxLabelCharacters = 200;

function isLabel(value: unknown): value is string {
  if (typeof value !== "string" || value.trim() === "") return false;
  return value.length <= maxLabelCharacters && isStorable(value);
}

export function identityKeys({ tenantId, userId, appId }: Scope): Record<string, string> {
  return {
    ...(tenantId !== undefined && { tenant_id: tenantId }),
    ...(userId !== undefined && { user_id: userId }),
    ...(appId !== undefined && { app_id: appId }),
  };
}

/** Unchecked, except that all places agree. */
function namedIds(config: LangGraphRunnableConfig | undefined) {
  const { langgraph_auth_user: authUser, langgraph_auth_user_id: authUserId } = valuesOf(
    config?.configurable,
  );
  const servers = {
    "serverInfo.user": config?.serverInfo?.user,
    "configurable.langgraph_auth_user": authUser,
  };
  const places = placesOf(config);
  const { configurable } = places;
  const authenticated = [
    ...namedIdsIn(servers, "identity"),
    ...namedIdsIn({ configurable }, "langgraph_auth_user_id"),
  ];
  const ownTenants = namedIdsIn(servers, "tenantId", "tenant_id");
  const tenants = [...ownTenants, ...namedIdsIn(places, "tenantId", "tenant_id")];
  const ids = {
    tenantId: agreed("tenantId", tenants),
    userId: agreed("userId", [...authenticated, ...namedIdsIn(places, "userId", "user_id")]),
    appId: agreed("appId", namedIdsIn(places, "appId", "app_id")),
  };
  const [server] = authenticated;
  const hasTenant = ownTenants.some(({ place }) => place === server?.place);
  if (server && !hasTenant && tenants.length > 0)
    throw new MemoryError(
      "SCOPE_REQUIRED",
      `Whose run this is, is ambiguous: ${namedKeys(tenants)} name a tenant, and the authenticated user has none. ` +
        "Return `tenant_id` where the user is authenticated; clients must not name it.",
    );
  return {
    ids: Object.fromEntries(Object.entries(ids).filter(([, id]) => id !== undefined)),
    isAuthenticated: [...Object.values(servers), authUserId].some((user) => user != null),
  };
}

type Values = Readonly<Record<string, unknown>>;

function valuesOf(source: unknown): Values {
  return typeof source === "object" && source !== null ? (source as Values) : {};
}

/** What a run's caller sets. */
const placesOf = (config: LangGraphRunnableConfig | undefined) => ({
  context: config?.context,
  configurable: config?.configurable,
});

type NamedId = { readonly place: string; readonly key: string; readonly value: unknown };

/** In order of the places, then of the keys. */
function namedIdsIn(places: Values, ...keys: readonly string[]): NamedId[] {
  const all = Object.entries(places).flatMap(([place, source]) =>
    keys.map((key) => ({ place, key: `${place}.${key}`, value: valuesOf(source)[key] })),
  );
  return all.filter(({ value }) => value != null);
}

function agreed(name: string, ids: readonly NamedId[]): unknown {
  const [first, ...others] = ids;
  if (others.every(({ value }) => value === first?.value)) return first?.value;
  throw new MemoryError(
    "SCOPE_REQUIRED",
    `Whose run this is, is ambiguous: ${namedKeys(ids)} name different values of ${name}. ` +
      "Have one of your own programs name it, and take these keys out of what clients send.",
  );
}

function namedKeys(ids: readonly NamedId[]): string {
  return [...new Set(ids.map(({ key }) => key))].join(", ");
}

/** LangGraph's namespace of the graph that runs a node: names and tasks of the nodes around it. */
export function graphNamespace(config: LangGraphRunnableConfig | undefined): string {
  const namespace: unknown = config?.configurable?.checkpoint_ns;
  return typeof namespace === "string" ? namespace.split("|").slice(0, -1).join("|") : "";
}

/**
 * Whether an agent's tool started the graph: LangChain and LangGraph call tools in a node of this
 * name.
 */
export function isWithinTool(config: LangGraphRunnableConfig | undefined): boolean {
  return /(?:^|\|)tools:/.test(graphNamespace(config));
}
