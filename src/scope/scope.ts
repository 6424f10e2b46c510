import { inspect } from "node:util";
import { z } from "zod";
import { MemoryError, messageOf } from "../errors.js";
import { explainIssue, parseInput } from "../input/parse-input.js";
import { asListed } from "../postgres/isolation.js";
import { isStorable } from "../text/storable-text.js";

/** The owner of a memory or a thread. At least one of `userId` and `appId` is set. */
export interface Scope {
  readonly tenantId?: string;
  readonly userId?: string;
  readonly appId?: string;
}

/** Internal `bigint` keys. Drivers return them as text. */
export type OwnerRef = number;
export type ThreadRef = number;

const idSchema = (name: string) =>
  z
    .string({ error: `${name} must be a string` })
    .refine((value) => value.trim() !== "", `${name} must not be blank`)
    .refine(isStorable, `${name} must not contain NUL characters or halves of surrogate pairs`)
    .optional();

const scopeSchema = z.strictObject({
  tenantId: idSchema("tenantId"),
  userId: idSchema("userId"),
  appId: idSchema("appId"),
});

/**
 * Rejects `{ userId: undefined, appId }`, which would select all users.
 * @throws MemoryError `SCOPE_REQUIRED`
 */
export function parseScope(input: unknown): Scope {
  const given = typeof input === "object" ? Object.entries(input ?? {}) : [];
  const valueless = given.filter(([, value]) => value === undefined || value === null);
  if (valueless.length > 0)
    throw invalidScope(valueless.map(([name]) => `${name} is given without a value`));
  const parsed = scopeSchema.safeParse(input ?? {}, { error: explainIssue });
  if (!parsed.success) throw invalidScope(parsed.error.issues.map(({ message }) => message));
  if ("userId" in parsed.data || "appId" in parsed.data) return parsed.data as Scope;
  const message = "A scope needs a userId or an appId (or both): pass `scope: { userId: … }`.";
  throw new MemoryError("SCOPE_REQUIRED", message);
}

export interface AppScope {
  readonly tenantId?: string;
  readonly appId: string;
}

/** @throws MemoryError `SCOPE_REQUIRED` without an appId, `INVALID_INPUT` with a userId */
export function parseAppScope(input: unknown): AppScope {
  const { userId, appId, ...tenant } = parseScope(input);
  if (appId === undefined) throw invalidScope(["this is about an app, and appId is missing"]);
  if (userId === undefined) return { ...tenant, appId };
  throw new MemoryError(
    "INVALID_INPUT",
    "This is about an app, for all of its users: pass the scope { tenantId?, appId }, without a userId.",
  );
}

/** Fields of one owner's calls, whose own errors `parseInput` throws. */
export const requiredScope = readBy(parseScope);
export const appScopeField = readBy(parseAppScope);
export const requiredThread = readBy(parseThreadId);

function readBy<Value>(read: (input: unknown) => Value) {
  return z.custom<Value>().transform((input, context): Value => {
    try {
      return read(input);
    } catch (error) {
      context.addIssue({ code: "custom", message: messageOf(error), params: { error } });
      return z.NEVER;
    }
  });
}

/** Of lists over everybody, which `listed` reads. */
export const scopeField = (z.unknown() as z.ZodType<unknown, Scope>).optional();
export const threadField = (z.unknown() as z.ZodType<unknown, string>).optional();

/**
 * The scope of `options`; undefined (all scopes) only without the key.
 * @throws MemoryError `SCOPE_REQUIRED`
 */
export function parseScopeIn(options: { readonly scope?: unknown } | undefined): Scope | undefined {
  if (options === undefined || !("scope" in options)) return undefined;
  if (options.scope !== undefined) return parseScope(options.scope);
  throw invalidScope(["scope is given without a value; leave it out where all scopes are meant"]);
}

type ListShape = z.ZodRawShape & {
  readonly scope: typeof scopeField;
  readonly tenantId: typeof tenantField;
};

/**
 * Parses list options for a scope, a tenant, or all.
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT` for both
 */
function parseListed<Shape extends ListShape>(
  schema: z.ZodObject<Shape>,
  input: unknown = {},
  what: string,
) {
  type Options = z.output<z.ZodObject<Shape>> & { scope?: unknown; tenantId?: string | undefined };
  const { scope: _, ...options } = parseInput(schema, input, what) as Options;
  const scope = parseScopeIn(input as { readonly scope?: unknown });
  if (scope === undefined || options.tenantId === undefined) return { ...options, scope };
  throw new MemoryError(
    "INVALID_INPUT",
    `Invalid ${what}: \`tenantId\` is for lists over everybody; the scope names its own tenant.`,
  );
}

/** `find`, for the parsed options of a list, where the rows of its scope, tenant or all are visible. */
export async function listed<Shape extends ListShape, Result>(
  schema: z.ZodObject<Shape>,
  input: unknown,
  what: string,
  find: (which: ReturnType<typeof parseListed<Shape>>) => Promise<Result>,
): Promise<Result> {
  const which = parseListed(schema, input, what);
  return asListed(which, () => find(which));
}

export const tenantField = z
  .string()
  .refine(isStorable, "must not contain NUL characters")
  .optional();

export const isSharedBy = (scope: Scope, owner: Scope): boolean =>
  scope.userId !== undefined && owner.userId === undefined;

function invalidScope(problems: readonly string[]): MemoryError {
  return new MemoryError(
    "SCOPE_REQUIRED",
    `Invalid scope: ${problems.join("; ")}. Pass { tenantId?, userId?, appId? }, without the keys of ids that there are not.`,
  );
}

export interface ThreadAddress {
  readonly scope: Scope;
  readonly threadId: string;
}

/** Equal for equal addresses: a parsed scope has its ids in one order. */
export const addressKey = ({ scope, threadId }: ThreadAddress): string =>
  JSON.stringify([scope, threadId]);

/** @throws MemoryError `INVALID_INPUT` for anything but text that is not blank */
export function parseThreadId(input: unknown): string {
  if (typeof input === "string" && input.trim() !== "" && isStorable(input)) return input;
  throw new MemoryError(
    "INVALID_INPUT",
    `${inspect(input)} cannot be a thread id: it must be text, not blank, without NUL characters or halves of surrogate pairs. ` +
      "Pass { configurable: { thread_id: … } } to a graph, threadId to a call.",
  );
}

/** Separates a conversation's id and an agent in the thread ids of agents' tasks. */
export const delegatedMark = "/mnemograph:delegated/";

export const isDelegatedThread = (threadId: string): boolean => threadId.includes(delegatedMark);

export function threadForbidden(threadId: string): MemoryError {
  return new MemoryError(
    "THREAD_FORBIDDEN",
    `Thread "${threadId}" belongs to another scope. ` +
      "A thread stays with the tenant, user and app that first used it: use another thread id, or the scope it was made in.",
  );
}

/** Owner of threads without an owner. No valid scope equals it, since ids must not be blank. */
export const nobody: Scope = { tenantId: " ", userId: " " };

export const ownNamePrefix = "mnemograph:";
