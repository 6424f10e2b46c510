import { z } from "zod";
import { MemoryError } from "../errors.js";
import { isStorable } from "./storable-text.js";

/** Who a memory or a thread belongs to. At least one of `userId` and `appId` is set. */
export interface Scope {
  readonly tenantId?: string;
  readonly userId?: string;
  readonly appId?: string;
}

const id = (name: string) =>
  z
    .string({ error: `${name} must be a string` })
    .refine((value) => value.trim() !== "", `${name} must not be blank`)
    .refine(isStorable, `${name} must not contain NUL characters or halves of surrogate pairs`)
    .optional();

const scopeSchema = z.strictObject({ tenantId: id("tenantId"), userId: id("userId"), appId: id("appId") });

/**
 * `input` as a scope, with unset ids left out.
 *
 * Ids are opaque: any text that PostgreSQL can hold, compared exactly.
 *
 * @throws MemoryError `SCOPE_REQUIRED` when neither userId nor appId is given or an id is blank.
 */
export function parseScope(input: unknown): Scope {
  const parsed = scopeSchema.safeParse(input ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => issue.message).join("; ");
    throw new MemoryError(
      "SCOPE_REQUIRED",
      `Invalid scope: ${problems}. Pass { tenantId?, userId?, appId? }.`,
    );
  }
  const { tenantId, userId, appId } = parsed.data;
  if (userId === undefined && appId === undefined) {
    throw new MemoryError("SCOPE_REQUIRED", "A scope needs a userId or an appId (or both).");
  }
  return {
    ...(tenantId !== undefined && { tenantId }),
    ...(userId !== undefined && { userId }),
    ...(appId !== undefined && { appId }),
  };
}
