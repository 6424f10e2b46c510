import type { ExportLine, ExportLineOf } from "./export-line.js";

/** What a line at this place is wrong with; null when it fits. Lines are given in their order, each once. */
export type OrderCheck = (line: ExportLine) => string | null;

interface ThreadLines {
  readonly threadId: string;
  nextSeq: number;
  readonly messageIds: Set<string>;
  readonly summaries: Set<string>;
}

/**
 * What lines of an export say of each other: the last one how many there are; nothing is told twice; a thread's messages, without gaps, and then its
 * summaries follow its own line; a summary is made of one before it, and covers messages that are there; of two
 * memories only one took the other's place.
 *
 * So a file cannot make a thread that no round can go on with, nor a chain that has no end. Keeps ids only.
 */
export function exportOrder(): OrderCheck {
  const told = new Set<string>();
  const successors = new Map<string, string>();
  let thread: ThreadLines | undefined;
  let revision = -1;
  let lines = 0;

  const once = (what: string, key = what) => {
    if (told.has(key)) return `there is a line of ${what} before it.`;
    told.add(key);
    return null;
  };
  const within = (threadId: string, check: (thread: ThreadLines) => string | null) =>
    thread?.threadId === threadId
      ? check(thread)
      : `there is no line of thread "${shortened(threadId)}" before it, which its messages and summaries follow.`;

  const problem = (line: ExportLine): string | null => {
    switch (line.type) {
      case "header":
        return once("the header") && "a second header.";
      case "owner":
        return once("the owner");
      case "thread":
        thread = { threadId: line.threadId, nextSeq: 0, messageIds: new Set(), summaries: new Set() };
        return once(`thread "${shortened(line.threadId)}"`, `thread ${line.threadId}`);
      case "message":
        return within(line.threadId, (of) => messageProblem(of, line));
      case "summary":
        return within(line.threadId, (of) => summaryProblem(of, line));
      case "memory":
        return once(`memory ${line.id}`) ?? successorProblem(successors, line);
      case "relation":
        return line.from === line.to ? "a memory cannot be linked with itself." : null;
      case "change":
        if (line.revision <= revision)
          return `revision: ${line.revision} follows ${revision}, and is not after it.`;
        revision = line.revision;
        return null;
      case "consent":
        return once(`consent request ${line.id}`);
      case "item": {
        const name = JSON.stringify([line.appId ?? "", line.namespace, line.key]);
        return once(`the item ${shortened(name)}`, `item ${name}`);
      }
      case "history":
        return null;
      case "end":
        return line.lines === lines ? null : `${line.lines - lines} lines before it are missing.`;
    }
  };
  return (line) => {
    const found = problem(line);
    lines++;
    return found;
  };
}

function messageProblem(thread: ThreadLines, { seq, messageId }: ExportLineOf<"message">): string | null {
  if (seq !== thread.nextSeq) {
    return `seq: ${seq} stands where ${thread.nextSeq} should: messages are counted from 0, without gaps.`;
  }
  if (thread.messageIds.has(messageId)) return "messageId: another message of the thread has it.";
  thread.nextSeq++;
  thread.messageIds.add(messageId);
  return null;
}

function summaryProblem(thread: ThreadLines, line: ExportLineOf<"summary">): string | null {
  const { endSeq, base } = line;
  if (endSeq >= thread.nextSeq) return `endSeq: there is no message ${endSeq} of the thread before it.`;
  if (base && !thread.summaries.has(summaryName(base))) {
    return "base: there is no such summary of the thread before it.";
  }
  thread.summaries.add(summaryName(line));
  return null;
}

/** A summary is told by its window and time: ids are each database's own. */
function summaryName({ startSeq, endSeq, createdAt }: NonNullable<ExportLineOf<"summary">["base"]>): string {
  return `${startSeq} ${endSeq} ${createdAt}`;
}

/** Notes who took a memory's place. Each has one successor at most, so a circle is closed by its last line. */
function successorProblem(
  successors: Map<string, string>,
  { id, supersededBy }: ExportLineOf<"memory">,
): string | null {
  if (supersededBy === null) return null;
  if (lastOf(successors, supersededBy) === id) return "supersededBy: it would have taken its own place.";
  successors.set(id, supersededBy);
  return null;
}

/** The end of a chain. What was walked is shortened, so that long chains are not walked again and again. */
function lastOf(successors: Map<string, string>, start: string): string {
  let id = start;
  for (let next = successors.get(id); next !== undefined; next = successors.get(id)) {
    successors.set(id, successors.get(next) ?? next);
    id = next;
  }
  return id;
}

function shortened(id: string): string {
  return id.length > 100 ? `${id.slice(0, 99)}…` : id;
}
