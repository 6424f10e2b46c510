import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { listener, parseInput } from "../text/parse-input.js";
import { type Authenticate, bearerTokenOf } from "./authenticate.js";
import type { Caller } from "./route/caller.js";

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
  checkOptions(options);
  const { issuer, audience, caller = userOfSubject, clockToleranceSeconds: clockTolerance = 5 } = options;
  const algorithms = [...(options.algorithms ?? (options.secret === undefined ? asymmetric : ["HS256"]))];
  let key: Promise<JWTVerifyGetKey> | undefined;
  return async (request) => {
    const token = bearerTokenOf(request);
    if (token === null) return null;
    const { jwtVerify, errors } = await loadJose();
    key ??= keyOf(options);
    try {
      const checks = { audience, algorithms, clockTolerance, requiredClaims: ["exp"] };
      const { payload } = await jwtVerify(token, await key, {
        ...checks,
        ...(issuer !== undefined && { issuer }),
      });
      return await caller(payload);
    } catch (error) {
      // A token that is none, against keys that could not be read.
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) return null;
      throw error;
    }
  };
}

const asymmetric = ["RS256", "PS256", "ES256", "EdDSA"];
const fewestSecretBytes = 32;

const optionsSchema = z.strictObject({
  ...{ jwksUrl: z.unknown().optional(), secret: z.unknown().optional(), issuer: z.unknown().optional() },
  ...{ audience: z.unknown().optional(), algorithms: z.array(z.string()).readonly().optional() },
  ...{ clockToleranceSeconds: z.number().optional(), caller: listener().optional() },
});

function checkOptions(options: JwtScopes): void {
  // A claim that is not looked at for a misspelt name would let in others than are meant.
  parseInput(optionsSchema, options, "JWT settings");
  const { jwksUrl, secret, issuer, audience } = options;
  const problems = [
    (jwksUrl === undefined) === (secret === undefined) && "give either `jwksUrl` or `secret`",
    secret !== undefined &&
      Buffer.byteLength(secret) < fewestSecretBytes &&
      `\`secret\` has fewer than ${fewestSecretBytes} bytes`,
    jwksUrl !== undefined && !URL.canParse(jwksUrl) && "`jwksUrl` is no URL",
    jwksUrl !== undefined && !issuer && "`jwksUrl` needs an `issuer`",
    !audience && "`audience` is missing: tokens for other services would be taken",
  ].filter((problem) => problem !== false);
  if (problems.length > 0)
    throw new MemoryError("INVALID_INPUT", `Invalid JWT settings: ${problems.join("; ")}.`);
}

function userOfSubject({ sub }: JWTPayload): Caller | null {
  // A token may say anything there.
  return typeof sub !== "string" || sub.trim() === "" ? null : { role: "user", scope: { userId: sub } };
}

async function keyOf({ jwksUrl, secret }: JwtScopes): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet } = await loadJose();
  if (jwksUrl !== undefined) return createRemoteJWKSet(new URL(jwksUrl));
  const shared = new TextEncoder().encode(secret);
  return async () => shared;
}

async function loadJose(): Promise<typeof import("jose")> {
  try {
    return await import("jose");
  } catch (cause) {
    throw new MemoryError("PEER_MISSING", "`jwtScopes` needs the package jose: npm install jose", { cause });
  }
}
