import type { Connection } from "../postgres/connection.js";
import type { AppScope } from "../scope/scope.js";
import { type ListedOwner, type ListOwners, listOwners } from "./list-owners.js";
import { type UninstallApp, type Uninstalled, type UninstallRuntime, uninstallApp } from "./uninstall-app.js";

/** The users that something is kept of. For operators: nothing here belongs in reach of an agent. */
export interface UsersApi {
  /**
   * Users in the order in which they first came, in pages of `limit` after the `cursor` of the last one: those of one
   * tenant, or of all.
   *
   * @throws MemoryError `INVALID_INPUT`
   */
  list(page?: ListOwners): Promise<ListedOwner[]>;
}

/** The apps that something is kept of: notes, procedures, and conversations of nobody in particular. */
export interface AppsApi {
  /** As `users.list`. @throws MemoryError `INVALID_INPUT` */
  list(page?: ListOwners): Promise<ListedOwner[]>;
  /**
   * Takes an app out of use: its conversations end, with the reason "uninstalled", and leave their notes. These and all
   * other memories of its own stay, unless `purgeMemories` asks to delete them for good, with their audit trail; then no
   * conversation leaves a note either. What users have in it stays theirs: their conversations, and what was learned
   * of them there. To delete the app's own conversations too: `memory.forget({ appId })`.
   *
   * @example
   * ```ts
   * await memory.apps.uninstall({ appId: "calendar" }, { purgeMemories: true, actor: "admin" });
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT` for a scope with a user
   */
  uninstall(app: AppScope, options?: UninstallApp): Promise<Uninstalled>;
}

/** The `UsersApi` on `db`. */
export function createUsersApi(db: Connection): UsersApi {
  return { list: (page) => listOwners(db, "users", page) };
}

/** The `AppsApi` on `deps`. */
export function createAppsApi(deps: UninstallRuntime): AppsApi {
  return {
    list: (page) => listOwners(deps.db, "apps", page),
    uninstall: (app, options) => uninstallApp(deps, app, options),
  };
}
