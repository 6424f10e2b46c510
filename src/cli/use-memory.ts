import type { Memory } from "../memory.js";
import type { Scope } from "../scope/scope.js";
import type { MemoryFlags } from "./flags.js";

/**
 * `work` on the memory that flags and environment name, which is closed afterwards; and the scope that flags name, if
 * they name anybody.
 *
 * @throws MemoryError `SETUP_REQUIRED` when there is no database, `INVALID_INPUT`
 */
export async function useMemory<Result>(
  flags: MemoryFlags,
  work: (memory: Memory, scope: Scope | undefined) => Promise<Result>,
): Promise<Result> {
  const { openMemory, scopeOf } = await import("./open-memory.js");
  const named = [flags.tenant, flags.user, flags.app].some((id) => id !== undefined);
  const scope = named ? scopeOf(flags) : undefined;
  const memory = await openMemory(flags);
  try {
    return await work(memory, scope);
  } finally {
    await memory.close();
  }
}

/** Whose: a scope's, a tenant's, or everybody's. */
export type Listed = { readonly scope: Scope } | { readonly tenantId?: string };

/** The same for commands over everybody, which flags may narrow to a tenant, a user or an app. */
export async function useListed<Result>(
  flags: MemoryFlags,
  work: (memory: Memory, whose: Listed) => Promise<Result>,
): Promise<Result> {
  const { tenant, user, app } = flags;
  if (user !== undefined || app !== undefined)
    return useScope(flags, (memory, scope) => work(memory, { scope }));
  const whose = tenant === undefined ? {} : { tenantId: tenant };
  return useMemory({ ...flags, tenant: undefined }, (memory) => work(memory, whose));
}

/** The same for commands that need a scope. @throws MemoryError `SCOPE_REQUIRED` before anything is opened */
export async function useScope<Result>(
  flags: MemoryFlags,
  work: (memory: Memory, scope: Scope) => Promise<Result>,
): Promise<Result> {
  const { scopeOf } = await import("./open-memory.js");
  const scope = scopeOf(flags);
  return useMemory(flags, (memory) => work(memory, scope));
}

/** Resolves when the process is asked to end. A second time ends it at once. */
export async function stopSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve();
      });
    }
  });
}
