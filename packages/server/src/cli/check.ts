import { toMemoryError } from "mnemograph/contract";

export interface Check {
  readonly check: string;
  readonly verdict: "ok" | "warn" | "bad";
  readonly says: string;
  readonly todo: string | null;
}

const as =
  (verdict: Check["verdict"]) =>
  (check: string, says: string, todo: string | null = null): Check => ({
    check,
    verdict,
    says,
    todo,
  });

export const [ok, warn, bad] = [as("ok"), as("warn"), as("bad")];

/**
 * A failed check is a finding, and the next ones are made.
 * @throws MemoryError `INVALID_INPUT`, of the command's use
 */
export async function checked(
  check: string,
  schema: string,
  make: () => Promise<Check | Check[]>,
): Promise<Check[]> {
  try {
    return [await make()].flat();
  } catch (error) {
    const { code, message } = toMemoryError(error, schema);
    if (code === "INVALID_INPUT") throw error;
    return [
      code === "PERMISSION_DENIED" ? warn(check, `Not checked. ${message}`) : bad(check, message),
    ];
  }
}
