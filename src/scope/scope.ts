import { z } from "zod";
import { MemoryError } from "../errors.js";
import { namesKeys, parseInput } from "../text/parse-input.js";
import { isStorable } from "../text/storable-text.js";

/** Who a memory or a thread belongs to. At least one of `userId` and `appId` is set. */
export interface Scope {
  readonly tenantId?: string;
  readonly userId?: string;
  readonly appId?: string;
}

/**
 * The `ref` of a row is its `bigint` within this database: short, for keys and joins, and told to nobody. An `id` is
 * what the world calls the same thing by: a memory's UUID, a thread's own name. A number holds every ref that an identity
 * column will ever count to, and JSON holds it as it is; drivers give a `bigint` as text, which `Number` reads.
 */
type Ref = number;

/** The ref of a row of `owner`: the user of a tenant, or its app where there is no user. */
export type OwnerRef = Ref;

/** The ref of a row of `thread`. */
export type ThreadRef = Ref;

const id = (name: string) =>
  z
    .string({ error: `${name} must be a string` })
    .refine((value) => value.trim() !== "", `${name} must not be blank`)
    .refine(isStorable, `${name} must not contain NUL characters or halves of surrogate pairs`)
    .optional();

const scopeSchema = z.strictObject({ tenantId: id("tenantId"), userId: id("userId"), appId: id("appId") });

/**
 * `input` as a scope.
 *
 * Ids are opaque: any text that PostgreSQL can hold, compared exactly. An id that is given without a value is refused
 * and not left out: without its user, `{ userId: undefined, appId }` would be the scope of everybody in the app.
 *
 * @throws MemoryError `SCOPE_REQUIRED` when neither userId nor appId is given, or an id is blank or has no value.
 */
export function parseScope(input: unknown): Scope {
  // The schema would take undefined for a key that is not there.
  const valueless = Object.entries(input ?? {}).filter(([, value]) => value === undefined || value === null);
  if (valueless.length > 0) throw invalid(valueless.map(([name]) => `${name} is given without a value`));
  const parsed = scopeSchema.safeParse(input ?? {}, { error: namesKeys });
  if (!parsed.success) throw invalid(parsed.error.issues.map(({ message }) => message));
  const { tenantId, userId, appId } = parsed.data;
  if (userId === undefined && appId === undefined) {
    throw new MemoryError(
      "SCOPE_REQUIRED",
      "A scope needs a userId or an appId (or both): pass `scope: { userId: … }`.",
    );
  }
  return {
    ...(tenantId !== undefined && { tenantId }),
    ...(userId !== undefined && { userId }),
    ...(appId !== undefined && { appId }),
  };
}

/** An app of a tenant, and none of its users. */
export interface AppScope {
  readonly tenantId?: string;
  readonly appId: string;
}

/**
 * `input` as the scope of an app.
 *
 * @throws MemoryError `SCOPE_REQUIRED` without an appId; `INVALID_INPUT` with a userId, since what is done to all of an
 *   app must not be asked for in the name of one user.
 */
export function parseAppScope(input: unknown): AppScope {
  const { userId, appId, ...tenant } = parseScope(input);
  if (appId === undefined) throw invalid(["this is about an app, and appId is missing"]);
  if (userId === undefined) return { ...tenant, appId };
  throw new MemoryError(
    "INVALID_INPUT",
    "This is about an app, for all of its users: pass the scope { tenantId?, appId }, without a userId.",
  );
}

/** The key `scope` of a call's options, which `parseScope` reads. */
export const scopeField = z.unknown().optional();

/** The key `threadId` of a call's options, which `parseThreadId` reads: of one that is missing it says so itself. */
export const threadField = z.unknown().optional();

/**
 * `input`, the options of a call for one scope, as `schema` reads them.
 *
 * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
 */
export function parseScoped<Shape extends z.ZodRawShape & { readonly scope: typeof scopeField }>(
  schema: z.ZodObject<Shape>,
  input: unknown,
  what: string,
): Omit<z.output<z.ZodObject<Shape>>, "scope"> & { readonly scope: Scope } {
  const options = parseInput(schema, input, what);
  return { ...options, scope: parseScope((options as { scope?: unknown }).scope) };
}

/**
 * The scope that `options` name, undefined where they name none: then a call is about all scopes. So one that is
 * there without a value is refused.
 *
 * @throws MemoryError `SCOPE_REQUIRED`
 */
export function parseScopeIn(options: { readonly scope?: unknown } | undefined): Scope | undefined {
  if (options === undefined || !("scope" in options)) return undefined;
  if (options.scope !== undefined) return parseScope(options.scope);
  throw invalid(["scope is given without a value; leave it out where all scopes are meant"]);
}

/**
 * `input`, the options of a list for one scope or, where none is named, for everybody in a tenant or in all.
 *
 * @throws MemoryError `INVALID_INPUT`, also for a tenant beside a scope, which names its own; `SCOPE_REQUIRED`
 */
export function parseListed<
  Shape extends z.ZodRawShape & { readonly scope: typeof scopeField; readonly tenantId: typeof tenantField },
>(schema: z.ZodObject<Shape>, input: unknown, what: string) {
  const { scope: _, ...options } = parseInput(schema, input === undefined ? {} : input, what) as z.output<
    z.ZodObject<Shape>
  > & {
    readonly scope?: unknown;
    readonly tenantId?: string | undefined;
  };
  const scope = parseScopeIn((input ?? undefined) as { readonly scope?: unknown } | undefined);
  if (scope === undefined || options.tenantId === undefined) return { ...options, scope };
  throw new MemoryError(
    "INVALID_INPUT",
    `Invalid ${what}: \`tenantId\` is for lists over everybody; the scope names its own tenant.`,
  );
}

/** The key `tenantId` of such options. */
export const tenantField = z.string().refine(isStorable, "must not contain NUL characters").optional();

/** Whether what belongs to `owner` is an app's, for all of its users to see, and `scope` is one of theirs. */
export function isSharedBy(scope: Scope, owner: Scope): boolean {
  return scope.userId !== undefined && owner.userId === undefined;
}

function invalid(problems: readonly string[]): MemoryError {
  return new MemoryError(
    "SCOPE_REQUIRED",
    `Invalid scope: ${problems.join("; ")}. Pass { tenantId?, userId?, appId? }, without the keys of ids that there are not.`,
  );
}

/** A conversation and whom it belongs to. */
export interface ThreadAddress {
  readonly scope: Scope;
  readonly threadId: string;
}

/**
 * `input` as a thread id: any text that is not blank.
 *
 * @throws MemoryError `INVALID_INPUT`
 */
export function parseThreadId(input: unknown): string {
  if (typeof input === "string" && input.trim() !== "" && isStorable(input)) return input;
  throw new MemoryError(
    "INVALID_INPUT",
    "Memory needs a thread id that is text and not blank: pass { configurable: { thread_id: … } } to a graph, threadId to a call.",
  );
}

/** The refusal to touch a thread of somebody else; it does not say whose. */
export function threadForbidden(threadId: string): MemoryError {
  return new MemoryError(
    "THREAD_FORBIDDEN",
    `Thread "${threadId}" belongs to another scope. ` +
      "A thread stays with the tenant, user and app that first used it: use another thread id, or the scope it was made in.",
  );
}

/**
 * Whose the threads of runs are that name nobody, such as those of a graph without memory. No scope that is given can
 * be this one, since ids may not be blank.
 */
export const nobody: Scope = { tenantId: " ", userId: " " };

/** How the names begin under which checkpoints are kept where the thread id itself is taken. */
export const ownNamePrefix = "mnemograph:";
