import { toMemoryError } from "../postgres/database-error.js";

export type Verdict = "ok" | "warn" | "bad";

export interface Check {
  readonly check: string;
  readonly verdict: Verdict;
  readonly says: string;
  readonly todo: string | null;
}

type Make = (check: string, says: string, todo?: string) => Check;

const as =
  (verdict: Verdict): Make =>
  (check, says, todo) => ({ check, verdict, says, todo: todo ?? null });

export const [ok, warn, bad] = [as("ok"), as("warn"), as("bad")];

/** A failed check is a finding, and the next ones are made. @throws MemoryError `INVALID_INPUT`, of the command's use */
export async function checked(check: string, schema: string, make: () => Promise<Check | Check[]>): Promise<Check[]> {
  try {
    return [await make()].flat();
  } catch (error) {
    const { code, message } = toMemoryError(error, schema);
    if (code === "INVALID_INPUT") throw error;
    return [code === "PERMISSION_DENIED" ? warn(check, `Not checked. ${message}`) : bad(check, message)];
  }
}

export const quoted = (names: readonly string[]): string => {
  const shown = names.slice(0, 3).map((name) => `"${name}"`);
  return names.length > 3 ? `${shown.join(", ")} and ${names.length - 3} more` : shown.join(", ");
};
