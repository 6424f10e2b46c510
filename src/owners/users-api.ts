import type { Connection } from "../postgres/connection.js";
import type { AppScope } from "../scope/scope.js";
import { type ListedOwner, type ListOwners, listOwners } from "./list-owners.js";
import { type UninstallApp, type Uninstalled, type UninstallRuntime, uninstallApp } from "./uninstall-app.js";

/** Users with data. For operators: no agent may reach it. */
export interface UsersApi {
  /**
   * Users in the order of their first use, in pages of `limit` after the `cursor` of the last one; of one
   * tenant or of all. @throws MemoryError `INVALID_INPUT`
   */
  list(page?: ListOwners): Promise<ListedOwner[]>;
}

/** Apps with data: notes, procedures, and conversations without a user. */
export interface AppsApi {
  /** As `users.list`. @throws MemoryError `INVALID_INPUT` */
  list(page?: ListOwners): Promise<ListedOwner[]>;
  /**
   * Takes an app out of use: its conversations end with the reason "uninstalled" and leave their notes. All memories of
   * the app stay, unless `purgeMemories` deletes them for good, with their audit trail; then no notes are left. Its
   * users keep their conversations and memories. To delete the app's own conversations too: `memory.forget({ appId })`.
   * @example
   * ```ts
   * await memory.apps.uninstall({ appId: "calendar" }, { purgeMemories: true, actor: "admin" });
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT` for a scope with a user
   */
  uninstall(app: AppScope, options?: UninstallApp): Promise<Uninstalled>;
}

export function createUsersApi(db: Connection): UsersApi {
  return { list: (page) => listOwners(db, "users", page) };
}

export function createAppsApi(deps: UninstallRuntime): AppsApi {
  return {
    list: (page) => listOwners(deps.db, "apps", page),
    uninstall: (app, options) => uninstallApp(deps, app, options),
  };
}
