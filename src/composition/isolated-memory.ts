import { internalApiKey, type MemoryWithInternalApi } from "../internal-api.js";
import type { Memory } from "../memory.js";
import { acrossTenants, asTenant } from "../postgres/isolation.js";
import type { Scope } from "../scope/scope.js";

/**
 * The calls without a scope, or with an optional one; every other call runs for the tenant of its
 * scope. The compiler requires each. "itself": it touches no table, or sets tenants itself, and a
 * statement without a tenant is refused. "all": without a scope it sees all tenants.
 */
const withoutScope: WithoutScope<MemoryWithInternalApi> = {
  setup: "itself",
  memories: { list: "itself", count: "itself" },
  events: { count: "all", list: "all" },
  jobs: { list: "itself", retry: "itself", dismiss: "itself" },
  consents: { list: "itself" },
  consolidations: { list: "itself" },
  transcript: { search: "itself" },
  threads: { list: "itself" },
  checkpointer: "itself",
  checkpoints: { prune: "all" },
  // Each batch runs for the tenant of its scope.
  store: "itself",
  users: { list: "itself" },
  apps: { list: "itself" },
  erasures: { list: "itself", receipt: "itself", requests: "itself" },
  stats: "itself",
  energy: { level: "itself", costs: "itself" },
  // All tenants together, for the operator of this process.
  energyConsumedSinceLastPoll: "itself",
  upkeep: "all",
  // Each job names its tenant.
  work: "itself",
  reembed: "all",
  import: "itself",
  policy: "data",
  settings: "itself",
  databaseStatus: "itself",
  [internalApiKey]: {
    defaultScope: "itself",
    consentAsk: "itself",
    keepRecentMessages: "itself",
    toolResultTokens: "itself",
    asksConsent: "itself",
    warn: "itself",
    screen: "itself",
  },
  graphs: "itself",
  idle: "itself",
  close: "itself",
};

/** `memory`, where the statements of each call see one tenant. */
export const isolatedMemory = (memory: Memory): Memory => isolated(memory, withoutScope) as Memory;

type MemoryCall = (...args: never[]) => unknown;

/** The members of `Api` that have calls without a required scope; members without calls are "data". */
export type WithoutScope<Api> = {
  readonly [Name in keyof Api as IsScoped<Api[Name]> extends true
    ? never
    : Name]-?: Api[Name] extends MemoryCall
    ? "itself" | "all"
    : Api[Name][keyof Api[Name]] extends MemoryCall
      ? WithoutScope<Api[Name]>
      : "data";
};

type IsScoped<Member> = Member extends MemoryCall
  ? Parameters<Member>[0] extends { readonly scope: Scope }
    ? true
    : false
  : Member[keyof Member] extends MemoryCall
    ? [keyof WithoutScope<Member>] extends [never]
      ? true
      : false
    : false;

type MethodTable = Readonly<Record<string | symbol, unknown>>;

function isolated(api: object, table: MethodTable): object {
  const wrapped = Reflect.ownKeys(api).map((name) => {
    const member: unknown = Reflect.get(api, name);
    const reach = Object.hasOwn(table, name) ? table[name] : undefined;
    if (reach === "itself" || reach === "data") return [name, member];
    if (typeof member === "function")
      return [name, isolatedCall(member as MemoryCall, reach === "all")];
    return [name, isolated(member as object, (reach ?? {}) as MethodTable)];
  });
  return Object.fromEntries(wrapped);
}

type RunIsolated = <Result>(work: () => Result) => Result;

function isolatedCall(call: MemoryCall, maySeeAll: boolean): MemoryCall {
  return (...args) => {
    const run = runIn(args[0], maySeeAll);
    const result = run(() => call(...args));
    return isAsyncIterable(result) ? iterateWithin(result, run) : result;
  };
}

function runIn(input: unknown, maySeeAll: boolean): RunIsolated {
  const { scope } = (input ?? {}) as { scope?: { tenantId?: unknown } };
  if (scope === undefined && maySeeAll) return acrossTenants;
  // The call itself checks the scope.
  const tenantId = scope?.tenantId;
  return (work) => asTenant(typeof tenantId === "string" ? tenantId : undefined, work);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** A generator runs in the context of whichever caller asks for its next item. */
async function* iterateWithin(
  items: AsyncIterable<unknown>,
  run: RunIsolated,
): AsyncGenerator<unknown> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await run(() => iterator.next());
      if (done) return;
      yield value;
    }
  } finally {
    await run(() => iterator.return?.());
  }
}
