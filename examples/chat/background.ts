import type { Conversation } from "./conversation.js";
import { explainError } from "./explain-error.js";

/** Tells what memory made of a turn in the background. */
export interface Background {
  /**
   * To be called after each round: one dim line follows when the work is done, if anything came of
   * it.
   */
  tellWhenDone(): void;
  /** Takes as told what memory holds now: whoever changed it by a command has seen so. */
  passOver(): Promise<void>;
  /** Resolves when no telling is under way. */
  told(): Promise<void>;
}

/** Watches a conversation's background work from now on. */
export async function watchBackground(conversation: Conversation): Promise<Background> {
  let known = await progress(conversation);
  let telling: Promise<void> | null = null;
  let again = false;

  async function tell(): Promise<void> {
    do {
      again = false;
      await conversation.memory.idle();
      const now = await progress(conversation);
      const line = await newsBetween(conversation, known, now);
      known = now;
      if (line !== null) conversation.terminal.note(line);
    } while (again);
  }
  return {
    tellWhenDone() {
      again = true;
      telling ??= tell()
        .catch((error: unknown) => conversation.terminal.note(`! ${explainError(error)}`))
        .finally(() => {
          telling = null;
        });
    },
    async passOver() {
      await telling;
      known = await progress(conversation);
    },
    told: async () => telling ?? undefined,
  };
}

/** How far the background work has come. */
interface Progress {
  readonly revision: number;
  readonly summaryId: number;
  readonly waiting: ReadonlySet<string>;
}

async function progress({ memory, scope, threadId }: Conversation): Promise<Progress> {
  const [{ revision }, summaries, requests] = await Promise.all([
    memory.changes.list({ scope, limit: 1, since: Number.MAX_SAFE_INTEGER }),
    memory.summaries.list({ scope, threadId }),
    memory.consents.list({ scope, rule: "consent" }),
  ]);
  const completed = summaries.findLast(({ status }) => status === "completed");
  return {
    revision,
    summaryId: completed?.id ?? 0,
    waiting: new Set(requests.map(({ id }) => id)),
  };
}

/** Memories named in one line; all of them are in /memories. */
const maxNamed = 3;

async function newsBetween(
  { memory, scope, threadId }: Conversation,
  from: Progress,
  to: Progress,
): Promise<string | null> {
  const news: string[] = [];
  if (to.revision > from.revision) {
    const { changes } = await memory.changes.list({ scope, since: from.revision });
    const lines = changes
      .slice(0, maxNamed)
      .map(({ line }) => line.replace(/\.?(?: \(imp=\d\))?$/, ""));
    const more = to.revision - from.revision - lines.length;
    news.push(`memory: ${lines.join("; ")}${more > 0 ? `; and ${more} more` : ""}`);
  }
  if (to.summaryId > from.summaryId) {
    const summary = (await memory.summaries.list({ scope, threadId })).find(
      ({ id }) => id === to.summaryId,
    );
    if (summary) news.push(`messages ${summary.startSeq}-${summary.endSeq} are summarised`);
  }
  const asked = [...to.waiting].filter((id) => !from.waiting.has(id)).length;
  if (asked > 0)
    news.push(`${asked === 1 ? "one thing waits" : `${asked} things wait`} for /consents`);
  return news.length === 0 ? null : `· ${news.join(" · ")}`;
}
