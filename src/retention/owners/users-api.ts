import type { ListedOwner, ListOwners } from "./list-owners.js";
import type { UninstallApp, Uninstalled } from "./uninstall-app.js";

/** Users with data. For operators: no agent may reach it. */
export interface UsersApi {
  /**
   * Lists the users of one tenant or of all, oldest first, in pages of `limit`; with `search`, those
   * with it in their id, the latest active first.
   * @example
   * ```ts
   * for (const { scope } of await memory.users.list({ limit: 100 })) console.log(scope.userId);
   * ```
   * @throws MemoryError `INVALID_INPUT`
   */
  list(page?: ListOwners): Promise<ListedOwner[]>;
}

/** Apps with data: notes, procedures, and conversations without a user. */
export interface AppsApi {
  /**
   * As `users.list`.
   * @example
   * ```ts
   * const apps = await memory.apps.list({ tenantId: "acme" });
   * ```
   * @throws MemoryError `INVALID_INPUT`
   */
  list(page?: ListOwners): Promise<ListedOwner[]>;
  /**
   * Ends the app's conversations with the reason "uninstalled". `purgeMemories` deletes the app's
   * memories and their audit trail for good; without it they stay, and each conversation leaves its
   * note. Users keep their conversations and memories. To delete the app's own conversations too,
   * call `memory.forget({ scope: { appId } })`.
   * @example
   * ```ts
   * await memory.apps.uninstall({ scope: { appId: "calendar" }, purgeMemories: true, actor: "admin" });
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT` for a scope with a user
   */
  uninstall(input: UninstallApp): Promise<Uninstalled>;
}
