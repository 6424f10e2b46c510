import { z } from "zod";
import type { Logger } from "../logger.js";
import type { Caller } from "../operations/caller.js";
import type { Scope } from "../scope/scope.js";
import { abortSignal, callback, parseInput } from "../text/parse-input.js";
import type { Authenticate } from "./authenticate.js";

export interface LimitedRequest {
  readonly caller: Caller;
  /** The operation's name in `/openapi.json`: "recall", "forget", "mcp". */
  readonly operation: string;
  readonly request: Request;
}

type Limit = { readonly retryAfterMs: number } | undefined;

const optionsSchema = z
  .strictObject({
    /** Finds the caller. @default programs of this machine are operators, over loopback without a proxy; others fail */
    authenticate: callback<Authenticate>(),
    /** Called before each call, also of a batch; a result refuses the call with status 429. @default no limit */
    rateLimit: callback<(request: LimitedRequest) => Limit | Promise<Limit>>(),
    /** Longest JSON body, in bytes. @default 4000000: thousands of memories */
    maxBodyBytes: z.number(),
    /** Longest import, in bytes. @default 1000000000: it is read line by line */
    maxImportBytes: z.number(),
    /** Milliseconds until an answer begins, imports excepted; late work goes on. @default 60000 */
    timeoutMs: z.number(),
    /** Serves a debugging page at `/inspector/`; cross-site requests with cookies are refused. @default false */
    inspector: z.boolean(),
    /** Answers `/mcp`: `mcpHandler(memory)` of mnemograph/mcp. @default no such path */
    mcp: callback<(request: Request, scope: Scope, actor: string) => Promise<Response>>(),
    /** Aborts running imports, exports and forgetting when the server ends. @default never */
    signal: abortSignal,
    /** @default warnings and errors on standard error */
    logger: z.custom<Logger>(() => true),
  })
  .partial();

export interface MemoryAppOptions extends z.input<typeof optionsSchema> {}

/** Refuses unknown options: a misspelt one would disable a check. @throws MemoryError `INVALID_INPUT` */
export function checkAppOptions(options: MemoryAppOptions): void {
  parseInput(optionsSchema, options, "options of createMemoryApp");
}
