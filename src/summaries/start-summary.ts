import type { BaseMessage } from "@langchain/core/messages";
import type { Logger } from "../logger.js";
import type { Connection } from "../postgres/connection.js";
import { findLastCall } from "../transcript/find-messages.js";
import type { RecordedThread } from "../transcript/record-messages.js";
import { type MarkedSummary, markSummary, type SummaryWork } from "./claim-summary.js";
import {
  type SummaryOptions,
  type SummarySkipReason,
  summarySkipReason,
  summaryWindow,
} from "./summary-window.rule.js";

interface ToolCallLinks {
  readonly type?: string | undefined;
  readonly id?: string | undefined;
  readonly tool_calls?: readonly { readonly id?: string | undefined }[] | undefined;
  readonly tool_call_id?: string | undefined;
}

/** Providers refuse a result without its call, so no summary ends between them. */
function hasPendingToolCalls(messages: readonly ToolCallLinks[]): boolean {
  const answered = new Set<string>();
  for (const message of messages.toReversed()) {
    if (message.type === "system" || message.type === "remove") continue;
    if (message.tool_call_id !== undefined) answered.add(message.tool_call_id);
    else
      return (message.tool_calls ?? []).some(
        (call) => call.id === undefined || !answered.has(call.id),
      );
  }
  return false;
}

export type SummaryStart =
  | ({ readonly started: true } & MarkedSummary)
  | { readonly started: false; readonly reason: SummarySkipReason };

/** Marks the next window of a thread whose turn was just recorded, if it is due. */
export async function startSummary(
  deps: { db: Connection; logger: Logger; summaries: SummaryOptions },
  thread: RecordedThread,
  threadId: string,
): Promise<SummaryStart> {
  const { talk, turnStarts } = thread;
  const reason = summarySkipReason({ ...thread, ...talk, ...deps.summaries });
  if (reason) return skipped(deps.logger, reason, threadId);

  const window = summaryWindow(
    talk.lastSeq,
    deps.summaries.windowMessages,
    turnStarts,
    talk.earliestSeq,
  );
  const marked = await markSummary(deps.db, { threadRef: thread.threadRef, window });
  if (!marked) return skipped(deps.logger, "already_running", threadId);
  logStatus(deps.logger, { threadId, ...marked, ...marked.window }, "processing");
  return { started: true, ...marked };
}

export function logStatus(
  logger: Logger,
  {
    summaryId,
    threadId,
    startSeq,
    endSeq,
  }: Pick<SummaryWork, "summaryId" | "threadId" | "startSeq" | "endSeq">,
  status: "processing" | "completed" | "failed",
): void {
  const fields = { threadId, step: "summaries", summaryId, startSeq, endSeq };
  logger.debug(`Memory ${summaryId} status updated to ${status}`, fields);
}

/** Whether the last turn waits for tools: by `messages`, just recorded, else by the transcript. */
export async function isTurnOpen(
  db: Connection,
  threadRef: number,
  messages: readonly BaseMessage[],
) {
  const showsLastCall = messages.some(
    (message) => !["tool", "system", "remove"].includes(message.getType()),
  );
  return hasPendingToolCalls(showsLastCall ? messages : await findLastCall(db, threadRef));
}

function skipped(logger: Logger, reason: SummarySkipReason, threadId: string): SummaryStart {
  if (reason === "already_running")
    logger.debug(`Summarization already in progress for ${threadId}`);
  if (reason === "nothing_new") logger.debug(`No new messages to summarize for ${threadId}`);
  return { started: false, reason };
}
