import { z } from "zod";
import type { Logger } from "../logger.js";
import type { Caller } from "../operations/caller.js";
import type { Scope } from "../scope/scope.js";
import { abortSignal, listener, parseInput } from "../text/parse-input.js";
import type { Authenticate } from "./authenticate.js";

/** A request that may go on or wait. */
export interface LimitedRequest {
  readonly caller: Caller;
  /** Of the operation, as `/openapi.json` names it: "recall", "forget", "mcp". */
  readonly operation: string;
  readonly request: Request;
}

/** How an app answers. */
export interface MemoryAppOptions {
  /**
   * Who sends a request. Without it only programs of this machine are answered, over loopback, and as operators: what
   * comes from elsewhere, or by a proxy, is refused. @default nobody but this machine
   */
  readonly authenticate?: Authenticate;
  /** Asked before each call: an answer refuses it for so long, by status 429. @default no limit */
  readonly rateLimit?: (
    request: LimitedRequest,
  ) => { readonly retryAfterMs: number } | undefined | Promise<{ readonly retryAfterMs: number } | undefined>;
  /** Longest body of JSON, in bytes. @default 4000000: thousands of memories */
  readonly maxBodyBytes?: number;
  /** Longest export that is imported, in bytes. @default 1000000000: it is read line by line */
  readonly maxImportBytes?: number;
  /**
   * Longest time until an answer begins, in milliseconds, with the time a slow caller takes to send its body. Imports and
   * what models are asked for meanwhile may take longer: calls go on, and are done. @default 60000
   */
  readonly timeoutMs?: number;
  /**
   * Shows a page at `/inspector/` that a developer or operator debugs memory with: it asks this API and nothing else, as
   * whoever `authenticate` says looks at it. What comes with cookies from pages of other sites is refused then.
   *
   * @default false
   */
  readonly inspector?: boolean;
  /** Answers `/mcp`: `mcpHandler(memory)` of mnemograph/mcp. @default there is no such path */
  readonly mcp?: (request: Request, scope: Scope, actor: string) => Promise<Response>;
  /** Ends imports, exports and forgetting that are under way, when the server is to end. @default nothing does */
  readonly signal?: AbortSignal;
  /** @default warnings and errors on standard error */
  readonly logger?: Logger;
}

const optionsSchema = z
  .strictObject({
    ...{ authenticate: listener(), rateLimit: listener(), mcp: listener(), signal: abortSignal },
    ...{ maxBodyBytes: z.number(), maxImportBytes: z.number(), timeoutMs: z.number() },
    ...{ inspector: z.boolean(), logger: z.unknown() },
  })
  .partial();

/** Refuses unknown options: a limit or a check that is misspelt would not be there. @throws MemoryError `INVALID_INPUT` */
export function checkAppOptions(options: MemoryAppOptions): void {
  parseInput(optionsSchema, options, "options of createMemoryApp");
}
