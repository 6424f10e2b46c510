import { z } from "zod";
import type { Connection } from "../database/connection.js";
import { pageRows, parseInput } from "../domain/parse-input.js";
import { parseScoped, type Scope, scopeField } from "../domain/scope.js";
import { type Changes, listChanges } from "../store/list-changes.js";

/** What changed in an owner's memories. */
export interface ChangesApi {
  /**
   * The changes after revision `rev`, oldest first, whoever made them; every revision is one change.
   *
   * @param options.limit rows, 1 to 1,000: the next page begins after the last row's revision. @default 100
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  since(
    rev: number,
    options: { readonly scope: Scope; readonly limit?: number | undefined },
  ): Promise<Changes>;
}

const pageSchema = z.strictObject({ scope: scopeField, limit: pageRows });

/** The `ChangesApi` on `db`. */
export function createChangesApi(db: Connection): ChangesApi {
  return {
    async since(rev, options) {
      const since = parseInput(z.int().min(0), rev, "revision");
      return listChanges(db, { ...parseScoped(pageSchema, options, "page of changes"), since });
    },
  };
}
