/**
 * `@mnemograph/server/http`: memory as an HTTP API. Needs the package `hono`, and `jose` for JSON Web
 * Tokens.
 */

export type { Caller, OperatorCaller, UserCaller } from "../operations/caller.js";
export type { LimitedRequest, MemoryAppOptions } from "./app-options.js";
export { type Authenticate, bearerTokens } from "./authenticate.js";
export type { MemoryApp } from "./client.js";
export { type JwtClaims, type JwtScopes, jwtScopes } from "./jwt-scopes.js";
export { createMemoryApp } from "./memory-app.js";
export type { HttpProblemCode, Problem } from "./problem.js";
