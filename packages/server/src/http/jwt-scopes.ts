import type { JWTVerifyGetKey } from "jose";
import { callback, parseInput } from "mnemograph/contract";
import { z } from "zod";
import type { Caller } from "../operations/caller.js";
import { type Authenticate, bearerTokenOf } from "./authenticate.js";

/** What a token says. */
export interface JwtClaims {
  readonly sub?: string;
  readonly [claim: string]: unknown;
}

export interface JwtScopes {
  /** Address of the issuer's keys: "https://auth.example.com/.well-known/jwks.json". */
  readonly jwksUrl?: string;
  /** The shared key, of at least 32 bytes, for HS256, HS384 and HS512: instead of `jwksUrl`. */
  readonly secret?: string;
  /** The token's issuer. Required with `jwksUrl`: it may sign for many services. */
  readonly issuer?: string;
  /** This server's name. Tokens issued for another service are refused. */
  readonly audience: string;
  /** @default those that fit the key: HS256, or RS256, PS256, ES256 and EdDSA with `jwksUrl` */
  readonly algorithms?: readonly string[];
  /** How far clocks may differ, in seconds. @default 5 */
  readonly clockToleranceSeconds?: number;
  /**
   * Maps claims to a caller; null for nobody.
   * @default `{ role: "user", scope: { userId: claims.sub } }`
   */
  readonly caller?: (claims: JwtClaims) => Caller | null | Promise<Caller | null>;
}

/**
 * Authenticates by JSON Web Tokens, as bearer tokens. Refuses those without `exp`.
 * @example
 * ```ts
 * const authenticate = jwtScopes({
 *   jwksUrl: "https://auth.example.com/.well-known/jwks.json",
 *   issuer: "https://auth.example.com/",
 *   audience: "memory",
 *   caller: ({ sub, org }) => (sub && org ? { role: "user", scope: { tenantId: String(org), userId: sub } } : null),
 * });
 * ```
 * @throws MemoryError `INVALID_INPUT`; in a request errors of reading the keys
 */
export function jwtScopes(options: JwtScopes): Authenticate {
  // A misspelt option would disable a check.
  parseInput(jwtOptionsSchema, options, "JWT settings");
  const { jwksUrl, secret, issuer, audience, clockToleranceSeconds: clockTolerance = 5 } = options;
  const { caller = userOfSubject } = options;
  const algorithms = [...(options.algorithms ?? (secret === undefined ? asymmetric : ["HS256"]))];
  const checks = {
    audience,
    algorithms,
    clockTolerance,
    requiredClaims: ["exp"],
    ...(issuer && { issuer }),
  };
  let key: JWTVerifyGetKey | undefined;
  return async (request) => {
    const token = bearerTokenOf(request);
    if (token === null) return null;
    const { createRemoteJWKSet, jwtVerify, errors } = await import("jose");
    key ??= jwksUrl
      ? createRemoteJWKSet(new URL(jwksUrl))
      : async () => new TextEncoder().encode(secret);
    try {
      return await caller((await jwtVerify(token, key, checks)).payload);
    } catch (error) {
      // An invalid token has no caller; unreadable keys are an error.
      if (error instanceof errors.JOSEError && !unreadableKeys.has(error.code)) return null;
      throw error;
    }
  };
}

/** The issuer is slow, answers no 200 and no JSON, or no keys. */
const unreadableKeys: ReadonlySet<string> = new Set([
  "ERR_JWKS_TIMEOUT",
  "ERR_JOSE_GENERIC",
  "ERR_JWKS_INVALID",
]);

const asymmetric = ["RS256", "PS256", "ES256", "EdDSA"];

const jwtOptionsSchema = z
  .strictObject({
    jwksUrl: z.url("is no URL").optional(),
    secret: z
      .string()
      .refine((secret) => Buffer.byteLength(secret) >= 32, "has fewer than 32 bytes")
      .optional(),
    issuer: z.string().optional(),
    audience: z.string().min(1, "is missing: tokens for other services would be taken"),
    algorithms: z.array(z.string()).readonly().optional(),
    clockToleranceSeconds: z.number().optional(),
    caller: callback().optional(),
  })
  .refine(({ jwksUrl, secret }) => (jwksUrl === undefined) !== (secret === undefined), {
    error: "give either `jwksUrl` or `secret`",
  })
  .refine(({ jwksUrl, issuer }) => jwksUrl === undefined || issuer, {
    error: "`jwksUrl` needs an `issuer`",
  });

function userOfSubject({ sub }: JwtClaims): Caller | null {
  return typeof sub !== "string" || sub.trim() === ""
    ? null
    : { role: "user", scope: { userId: sub } };
}
