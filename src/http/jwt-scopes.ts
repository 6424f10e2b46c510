import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import type { Caller } from "../operations/caller.js";
import { listener, parseInput } from "../text/parse-input.js";
import { type Authenticate, bearerTokenOf } from "./authenticate.js";

/** How tokens are checked, and whom they name. */
export interface JwtScopes {
  /** Where the issuer publishes its keys: "https://auth.example.com/.well-known/jwks.json". */
  readonly jwksUrl?: string;
  /** The key that issuer and server share, of at least 32 bytes: instead of `jwksUrl`, for HS256, HS384 and HS512. */
  readonly secret?: string;
  /** Who issued the token. An issuer of many services signs for all of them, so it is needed beside `jwksUrl`. */
  readonly issuer?: string;
  /** Whom it was issued for: this server. One that was issued for another service is refused. */
  readonly audience: string;
  /** @default those that fit the key: HS256, or RS256, PS256, ES256 and EdDSA with `jwksUrl` */
  readonly algorithms?: readonly string[];
  /** How far clocks may differ, in seconds. @default 5 */
  readonly clockToleranceSeconds?: number;
  /** Whom the claims name; null for nobody. @default `{ role: "user", scope: { userId: claims.sub } }` */
  readonly caller?: (claims: JWTPayload) => Caller | null | Promise<Caller | null>;
}

/**
 * `authenticate` by JSON Web Tokens: `Authorization: Bearer …`. Tokens without an end are refused. Needs the package
 * `jose`.
 *
 * @example
 * ```ts
 * const authenticate = jwtScopes({
 *   jwksUrl: "https://auth.example.com/.well-known/jwks.json",
 *   issuer: "https://auth.example.com/",
 *   audience: "memory",
 *   caller: ({ sub, org }) => (sub && org ? { role: "user", scope: { tenantId: String(org), userId: sub } } : null),
 * });
 * ```
 * @throws MemoryError `INVALID_INPUT`; when it is asked, `PEER_MISSING` without `jose`, and what keeps the keys from being read.
 */
export function jwtScopes(options: JwtScopes): Authenticate {
  // A claim that is not looked at for a misspelt name would let in others than are meant.
  parseInput(optionsSchema, options, "JWT settings");
  const { jwksUrl, secret, issuer, audience, clockToleranceSeconds: clockTolerance = 5 } = options;
  const { caller = userOfSubject } = options;
  const algorithms = [...(options.algorithms ?? (secret === undefined ? asymmetric : ["HS256"]))];
  const checks = { audience, algorithms, clockTolerance, requiredClaims: ["exp"], ...(issuer && { issuer }) };
  let key: JWTVerifyGetKey | undefined;
  return async (request) => {
    const token = bearerTokenOf(request);
    if (token === null) return null;
    const { createRemoteJWKSet, jwtVerify, errors } = await loadJose();
    key ??= jwksUrl ? createRemoteJWKSet(new URL(jwksUrl)) : async () => new TextEncoder().encode(secret);
    try {
      return await caller((await jwtVerify(token, key, checks)).payload);
    } catch (error) {
      // A token that is none, against keys that could not be read.
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) return null;
      throw error;
    }
  };
}

const asymmetric = ["RS256", "PS256", "ES256", "EdDSA"];

const optionsSchema = z
  .strictObject({
    jwksUrl: z.url("is no URL").optional(),
    secret: z
      .string()
      .refine((secret) => Buffer.byteLength(secret) >= 32, "has fewer than 32 bytes")
      .optional(),
    issuer: z.string().optional(),
    audience: z.string().min(1, "is missing: tokens for other services would be taken"),
    algorithms: z.array(z.string()).readonly().optional(),
    ...{ clockToleranceSeconds: z.number().optional(), caller: listener().optional() },
  })
  .refine(({ jwksUrl, secret }) => (jwksUrl === undefined) !== (secret === undefined), {
    error: "give either `jwksUrl` or `secret`",
  })
  .refine(({ jwksUrl, issuer }) => jwksUrl === undefined || issuer, { error: "`jwksUrl` needs an `issuer`" });

function userOfSubject({ sub }: JWTPayload): Caller | null {
  // A token may say anything there.
  return typeof sub !== "string" || sub.trim() === "" ? null : { role: "user", scope: { userId: sub } };
}

async function loadJose(): Promise<typeof import("jose")> {
  try {
    return await import("jose");
  } catch (cause) {
    throw new MemoryError("PEER_MISSING", "`jwtScopes` needs the package jose: npm install jose", { cause });
  }
}
