import type { AppOf } from "./route/route.js";
import { appRoutes } from "./routes/app-routes.js";
import { consentRoutes } from "./routes/consent-routes.js";
import { memoryRoutes } from "./routes/memory-routes.js";
import { operationRoutes } from "./routes/operation-routes.js";
import { roundRoutes } from "./routes/round-routes.js";
import { threadRoutes } from "./routes/thread-routes.js";
import { transferRoutes } from "./routes/transfer-routes.js";

/** Every route, by the name of its operation. */
export const routes = {
  ...roundRoutes,
  ...memoryRoutes,
  ...appRoutes,
  ...threadRoutes,
  ...consentRoutes,
  ...operationRoutes,
  ...transferRoutes,
};

/**
 * The app, for Hono's client.
 *
 * @example
 * ```ts
 * const client = hc<MemoryApp>("https://memory.example.com", { headers: { authorization: `Bearer ${token}` } });
 * const answer = await client.memories.$get({ query: { limit: "20" } });
 * const { memories, nextCursor } = await answer.json();
 * ```
 */
export type MemoryApp = AppOf<typeof routes>;
