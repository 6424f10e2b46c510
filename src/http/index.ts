/** `mnemograph/http`: memory as an HTTP API. Needs the package `hono`, and `jose` for JSON Web Tokens. */
export type { LimitedRequest, MemoryAppOptions } from "./app-options.js";
export { type Authenticate, bearerTokens } from "./authenticate.js";
export { type JwtScopes, jwtScopes } from "./jwt-scopes.js";
export { createMemoryApp } from "./memory-app.js";
export type { Caller, OperatorCaller, UserCaller } from "./route/caller.js";
export type { HttpProblemCode, Problem } from "./route/problem.js";
export type { MemoryApp } from "./routes.js";
