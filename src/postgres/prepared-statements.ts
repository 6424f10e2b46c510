import { createHash } from "node:crypto";
import { MemoryError } from "../errors.js";
import { errorCodeOf } from "./database-error.js";
import type { LocalSetting } from "./session-settings.js";

/** Whether large statements stay prepared on the server: "auto" until a pooler shows that it loses them. */
export type PrepareMode = "auto" | "always" | "never";

/** Which statements of a memory are prepared. */
export interface Preparing {
  /** The name to prepare `text` by; undefined where it is to be planned each time. */
  nameOf(text: string): string | undefined;
  /** `setting` as it can be sent now. */
  sendable(setting: LocalSetting): LocalSetting;
  /** Whether `error` says that a pooler lost a prepared statement: from then on none is prepared, and it may be asked again. */
  isLost(error: unknown): boolean;
}

/**
 * What is prepared, by `mode`. A pooler that lends a session for one transaction only, as PgBouncer does before 1.21,
 * answers with another session's statements: then nothing of the asked is done.
 *
 * @param onLost told once, when statements are prepared no more.
 */
export function createPreparing(mode: PrepareMode, onLost: () => void = () => {}): Preparing {
  let prepares = mode !== "never";
  return {
    nameOf: (text) => (prepares ? statementName(text) : undefined),
    sendable: (setting) => (prepares ? setting : { text: setting.text, values: setting.values ?? [] }),
    isLost(error) {
      if (mode !== "auto" || !lostStatement.has(errorCodeOf(MemoryError.is(error) ? error.cause : error)))
        return false;
      if (prepares) onLost();
      prepares = false;
      return true;
    },
  };
}

/** SQLSTATEs: there is none of that name, or there is one already. */
const lostStatement: ReadonlySet<string> = new Set(["26000", "42P05"]);

/** By their texts, since hashing one takes a part of what a recall does. */
const statementNames = new Map<string, string>();

/** Of a dozen schemas; those of more are hashed again. */
const mostNames = 500;

/** A name that only this text has: a connection keeps one plan for each name. */
function statementName(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size === mostNames) statementNames.clear();
  const name = `mnemograph_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}
