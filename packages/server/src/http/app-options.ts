import type { Logger, Scope } from "mnemograph";
import { abortSignal, callback } from "mnemograph/contract";
import { z } from "zod";
import type { Caller } from "../operations/caller.js";
import type { Authenticate } from "./authenticate.js";

export interface LimitedRequest {
  readonly caller: Caller;
  /** The operation's name in `/openapi.json`: "recall", "forget", "mcp". */
  readonly operation: string;
  readonly request: Request;
}

type Limited = { readonly retryAfterMs: number } | undefined;

export interface MemoryAppOptions {
  /**
   * Finds the caller.
   * @default programs of this machine are operators, over loopback without a proxy; others fail
   */
  readonly authenticate?: Authenticate;
  /**
   * Called before each call, also of a batch; a result refuses the call with status 429.
   * @default no limit
   */
  readonly rateLimit?: (request: LimitedRequest) => Limited | Promise<Limited>;
  /** Longest JSON body, in bytes. @default 4000000: thousands of memories */
  readonly maxBodyBytes?: number;
  /** Longest import, in bytes. @default 1000000000: it is read line by line */
  readonly maxImportBytes?: number;
  /** Milliseconds until an answer begins, imports excepted; late work goes on. @default 60000 */
  readonly timeoutMs?: number;
  /**
   * Serves a debugging page at `/inspector/`; cross-site requests with cookies are refused.
   * @default false
   */
  readonly inspector?: boolean;
  /** Answers `/mcp`: `mcpHandler(memory)` of @mnemograph/server/mcp. @default no such path */
  readonly mcp?: (request: Request, scope: Scope, actor: string) => Promise<Response>;
  /** Aborts running imports, exports and forgetting when the server ends. @default never */
  readonly signal?: AbortSignal;
  /** @default warnings and errors on standard error */
  readonly logger?: Logger;
}

/** Refuses unknown options: a misspelt one would disable a check. */
export const httpOptionsSchema = z
  .strictObject({
    authenticate: callback(),
    rateLimit: callback(),
    mcp: callback(),
    signal: abortSignal,
    maxBodyBytes: z.number(),
    maxImportBytes: z.number(),
    timeoutMs: z.number(),
    inspector: z.boolean(),
    logger: z.unknown(),
  })
  .partial();
