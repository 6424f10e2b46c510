import type { ResolvedConfig } from "../config.js";
import { askConsents } from "../consents/consent-rows.js";
import { MemoryError } from "../errors.js";
import type { InternalApi } from "../internal-api.js";
import { errorLine } from "../logger.js";
import { actions } from "../observability/events/event-log.js";
import { isConnectionError } from "../postgres/database-error.js";
import { recall } from "../prompt/recall.js";
import type { Runtime } from "../runtime.js";
import { delegatedMark, type Scope, threadForbidden } from "../scope/scope.js";
import { claimThread } from "../transcript/claim-thread.js";

export function createInternalApi(
  runtime: Runtime<ResolvedConfig>,
  defaultScope: Scope | null,
): InternalApi {
  const { db, config, logger, screen, consent, record } = runtime;
  return {
    emit: record,
    screen,
    warn: logger.warn,
    defaultScope: () => defaultScope,
    consentAsk: () => config.consent.ask,
    keepRecentMessages: () => config.summaries.keepRecentMessages,
    toolResultTokens: () => config.context.toolResultTokens,
    asksConsent: (way) => void consent.ways.add(way),
    askConsents: (ask) => askConsents(db, ask),
    // Nothing is ever recorded in this thread.
    recallForTask: (input) =>
      recall(runtime, { ...input, threadId: `${input.threadId}${delegatedMark}` }, true),
    async claim(run) {
      if (!(await claimThread(db, run))) throw threadForbidden(run.threadId);
    },
    async reportError({ node, error, scope, threadId }) {
      const code = MemoryError.is(error) ? error.code : undefined;
      const fields = { threadId, step: node, ...(code && { code }) };
      logger.error(
        `${node} failed for ${threadId}, the turn goes on without it: ${errorLine(error)}`,
        fields,
      );
      // Writing to a database that is down would delay the user again.
      if (
        code === "DATABASE_UNAVAILABLE" ||
        (MemoryError.is(error) && isConnectionError(error.cause))
      )
        return;
      const detail = code ?? "UNEXPECTED";
      await record({ scope, threadId, ...actions[node], status: "error", detail });
    },
  };
}
