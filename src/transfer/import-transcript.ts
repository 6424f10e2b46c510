import { toNewMessage } from "../conversation/record.js";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { ThreadRef } from "../scope/scope.js";
import { decodeMessage } from "../text/message-codec.js";
import type { ExportLineOf } from "./export-line.js";
import {
  findMisplacedMessages,
  findThreadRefs,
  type ImportedMessage,
  importMessages,
  importSummaries,
  skipThreadWork,
} from "./import-threads.js";
import { linesOf, type NumberedLine, noMessage } from "./read-export.js";
import type { ImportTarget } from "./record-types.js";

/** Writes what is new of the messages and summaries among `lines`; their threads are there. */
export async function importTranscript(
  tx: Connection,
  { scope, ownerRef, trust }: ImportTarget,
  lines: readonly NumberedLine[],
): Promise<{ message: number; summary: number }> {
  const messages = linesOf(lines, "message");
  const summaries = linesOf(lines, "summary");
  const named = [...linesOf(lines, "thread"), ...messages, ...summaries];
  if (named.length === 0) return { message: 0, summary: 0 };
  const threadIds = [...new Set(named.map(({ line }) => line.threadId))];
  const threads = await findThreadRefs(tx, { scope, threadIds });
  const refOf = ({ number, line }: (typeof named)[number]): ThreadRef => {
    const thread = threads.get(line.threadId);
    if (thread) return thread.ref;
    const [code, problem] =
      thread === null
        ? (["ID_TAKEN", "belongs to another scope of this database"] as const)
        : (["FORGOTTEN", "was forgotten meanwhile"] as const);
    throw new MemoryError(code, `Line ${number}: thread "${line.threadId}" ${problem}.`);
  };
  for (const each of named) refOf(each);
  const imported = await Promise.all(
    messages.map((each) => toImported(each, { threadRef: refOf(each), language: tx.language })),
  );
  const [misplaced] = imported.length > 0 ? await findMisplacedMessages(tx, imported) : [];
  if (misplaced !== undefined)
    throw otherMessages(messages[misplaced] as NumberedLine<ExportLineOf<"message">>);
  const added = imported.length > 0 ? await importMessages(tx, { ownerRef, messages: imported }) : [];
  // What is made of a conversation is believed as its words are: of those that nobody vouches for, nothing is.
  if (trust === "untrusted" && added.length > 0) await skipThreadWork(tx, added);
  return {
    message: added.reduce((sum, { messages: count }) => sum + count, 0),
    summary:
      summaries.length > 0
        ? await importSummaries(
            tx,
            summaries.map((each) => ({ ...each.line, threadRef: refOf(each) })),
          )
        : 0,
  };
}

/** What is stored of a message is made from the message, as if it had been recorded. */
async function toImported(
  { number, line, quoted = false }: NumberedLine<ExportLineOf<"message">>,
  { threadRef, language }: { threadRef: ThreadRef; language: string },
): Promise<ImportedMessage> {
  const { messageId, serialised, seq, saidAt, createdAt, agentId, runId } = line;
  try {
    const message = await decodeMessage(serialised);
    const said = await toNewMessage(message, language);
    const made = quoted ? ({ ...said, role: "other", terms: "" } as const) : said;
    return { ...made, messageId, serialised, threadRef, seq, saidAt, createdAt, agentId, runId };
  } catch (cause) {
    throw noMessage(number, cause);
  }
}

function otherMessages({ number, line }: NumberedLine<ExportLineOf<"message">>): MemoryError {
  return new MemoryError(
    "THREAD_DIFFERS",
    `Line ${number}: thread "${line.threadId}" has other messages here: it went on without those of the export.`,
  );
}
