import type { Memory } from "./memory.js";
import { acrossTenants, asTenant } from "./postgres/isolation.js";

type Call = (...args: never[]) => unknown;

/** Calls that touch no table, or say themselves whose rows they see. */
const plain: ReadonlySet<string> = new Set([
  ...["setup", "import", "idle", "close", "checkpointer"],
  ...["summarizationGraph", "extractionGraph", "compressionGraph"],
]);
/** Calls whose first argument is the scope itself. */
const byScope: ReadonlySet<string> = new Set(["forget", "export"]);

/**
 * `memory`, whose calls each see the rows of the tenant of the scope they are given, and of all tenants when they are
 * given none.
 */
export function isolatedMemory(memory: Memory): Memory {
  return isolated(memory) as Memory;
}

function isolated<Api extends object>(api: Api): Api {
  const wrapped = Object.entries(api).map(([name, member]: [string, unknown]) => {
    if (typeof member === "function") {
      return [name, plain.has(name) ? member : isolatedCall(member as Call, byScope.has(name))];
    }
    return [name, isApi(member) ? isolated(member) : member];
  });
  return Object.fromEntries(wrapped) as Api;
}

function isApi(member: unknown): member is object {
  if (typeof member !== "object" || member === null || Object.getPrototypeOf(member) !== Object.prototype)
    return false;
  return Object.values(member).every((inner) => typeof inner === "function");
}

function isolatedCall(call: Call, scopeFirst: boolean): Call {
  return (...args) => {
    const scope = scopeFirst ? args[0] : args.map(scopeIn).find((found) => found !== undefined);
    const run = <Result>(work: () => Result): Result =>
      scope === undefined ? acrossTenants(work) : asTenant(tenantIn(scope), work);
    const result = run(() => call(...args));
    return isIterable(result) ? iterateWithin(result, run) : result;
  };
}

function scopeIn(argument: unknown): unknown {
  return typeof argument === "object" && argument !== null && "scope" in argument
    ? argument.scope
    : undefined;
}

/** Only read here: the call itself refuses a scope that is none. */
function tenantIn(scope: unknown): string | undefined {
  const { tenantId } = (scope ?? {}) as { tenantId?: unknown };
  return typeof tenantId === "string" ? tenantId : undefined;
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** A generator does its work when it is asked for more, whoever asks. */
async function* iterateWithin(
  items: AsyncIterable<unknown>,
  run: <Result>(work: () => Result) => Result,
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
