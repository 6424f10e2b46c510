import { MemoryError } from "../errors.js";
import { internalApiKey, type MemoryWithInternalApi } from "../internal-api.js";
import type { Memory } from "../memory.js";
import { acrossTenants, asTenant } from "../postgres/isolation.js";
import type { Scope } from "../scope/scope.js";

/**
 * Where each call names its tenant. The compiler requires every member, and a scope where a call
 * takes one.
 */
const reaches: Reaches<MemoryWithInternalApi> = {
  setup: "itself",
  record: "0.scope",
  recall: "0.scope",
  promptFor: "0.scope",
  remember: "0.scope",
  summaries: { list: "0.scope" },
  memories: {
    list: "itself",
    add: "1.scope",
    get: "1.scope",
    remove: "1.scope",
    restore: "1.scope",
    revert: "1.scope",
    history: "1.scope",
    update: "2.scope",
    approve: "1.scope",
  },
  procedures: { write: "0.scope" },
  notes: {
    list: "0.scope",
    count: "0.scope",
    remove: "1.scope",
    purge: "0.scope",
    context: "0.scope",
  },
  changes: { since: "1.scope" },
  events: { count: "0.scope or all", list: "0.scope or all" },
  jobs: { list: "itself", retry: "itself" },
  consents: { list: "itself", decide: "0.scope" },
  query: "0.scope",
  transcript: { search: "itself", remove: "0.scope", replace: "0.scope" },
  threads: {
    list: "itself",
    end: "0.scope",
    delete: "0.scope",
    shown: "0.scope",
    cost: "0.scope",
    messages: "0.scope",
  },
  checkpointer: "itself",
  checkpoints: { prune: "0.scope or all" },
  // Each batch runs for the tenant of its scope.
  store: "itself",
  users: { list: "itself" },
  apps: { list: "itself", uninstall: "0" },
  stats: "itself",
  energy: { level: "itself" },
  // All tenants together, for the operator of this process.
  energyConsumedSinceLastPoll: "itself",
  upkeep: "all",
  // Each job names its tenant.
  work: "itself",
  reembed: "all",
  forget: "0",
  export: "0",
  import: "itself",
  policy: "data",
  databaseStatus: "itself",
  [internalApiKey]: {
    emit: "0.scope",
    reportError: "0.scope",
    claim: "0.scope",
    recallForTask: "0.scope",
    askConsents: "0.scope",
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

/** @throws MemoryError `PERMISSION_DENIED` for a member that is not in the table */
export const isolatedMemory = (memory: Memory): Memory => isolated(memory, reaches) as Memory;

type Call = (...args: never[]) => unknown;

/** The reach of each member of `Api`; members without calls are "data". */
export type Reaches<Api> = {
  readonly [Name in keyof Api]-?: Api[Name] extends Call
    ? Reach<Parameters<Api[Name]>>
    : Api[Name][keyof Api[Name]] extends Call
      ? Reaches<Api[Name]>
      : "data";
};

/**
 * Where a call takes its scope: "0" is the first argument, "0.scope" its key. A call without a
 * scope sees "all" tenants. "itself": the call touches no table, or sets tenants itself; a
 * statement without a tenant is refused.
 */
type Reach<Args extends readonly unknown[]> =
  | "itself"
  | ([ScopePlace<Args>] extends [never] ? "all" : ScopePlace<Args>);

type ScopePlace<Args extends readonly unknown[]> = {
  [Index in keyof Args & `${number}`]: Args[Index] extends Scope
    ? Index
    : Args[Index] extends { readonly scope: Scope }
      ? `${Index}.scope`
      : "scope" extends keyof NonNullable<Args[Index]>
        ? `${Index}.scope or all`
        : never;
}[keyof Args & `${number}`];

type Table = Readonly<Record<string | symbol, unknown>>;

function isolated(api: object, table: Table): object {
  const wrapped = Reflect.ownKeys(api).map((name) => {
    const member: unknown = Reflect.get(api, name);
    const reach = Object.hasOwn(table, name) ? table[name] : undefined;
    if (reach === "itself" || reach === "data") return [name, member];
    if (typeof reach === "object") return [name, isolated(member as object, reach as Table)];
    if (typeof reach === "string") return [name, isolatedCall(member as Call, reach)];
    const hint = 'Add it, or use a memory without isolation: "rls".';
    throw new MemoryError(
      "PERMISSION_DENIED",
      `\`${String(name)}\` has no entry in the table of tenants. ${hint}`,
    );
  });
  return Object.fromEntries(wrapped);
}

type Run = <Result>(work: () => Result) => Result;

function isolatedCall(call: Call, reach: string): Call {
  return (...args) => {
    const run = runIn(reach, args);
    const result = run(() => call(...args));
    return isIterable(result) ? iterateWithin(result, run) : result;
  };
}

function runIn(reach: string, args: readonly unknown[]): Run {
  if (reach === "all") return acrossTenants;
  const argument = args[Number.parseInt(reach, 10)];
  const scope = reach.includes(".scope")
    ? (argument as { scope?: unknown } | undefined)?.scope
    : argument;
  if (scope === undefined && reach.endsWith(" or all")) return acrossTenants;
  // The call itself checks the scope.
  const { tenantId } = (scope ?? {}) as { tenantId?: unknown };
  return (work) => asTenant(typeof tenantId === "string" ? tenantId : undefined, work);
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** A generator runs in the context of whichever caller asks for its next item. */
async function* iterateWithin(items: AsyncIterable<unknown>, run: Run): AsyncGenerator<unknown> {
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
