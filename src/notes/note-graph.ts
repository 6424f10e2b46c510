import { MemoryError } from "../errors.js";
import { backgroundJob } from "../jobs/background-graph.js";
import { LeaseLost } from "../jobs/lease.js";
import { deferTask, type TaskClaim, taskSteps } from "../jobs/thread-task.js";
import { errorLine } from "../logger.js";
import type { Scope } from "../scope/scope.js";
import { limitNote, loadNote, type NotesRuntime, type NoteWork } from "./load-note.js";
import { type NoteContent, noteContent, type SaidNote } from "./note-text.rule.js";
import { oncemore, saveNote } from "./save-note.js";
import { writeNote } from "./write-note.js";

/** What the steps of the memory sub-agent make. */
interface Noted {
  /** As the model wrote it. */
  said: SaidNote | null;
  /** As it is stored; null when nothing was worth noting. */
  content: NoteContent | null;
  memoryId: string | null;
}

/**
 * The memory sub-agent: the job that writes the note of a conversation that ended: load → note → validate → save →
 * compact. It keeps no checkpoints, and has nothing to do with those of the conversation.
 *
 * @param compact brings an app's notes back to its limit.
 */
export function createNoteJob(deps: NotesRuntime, compact: (owner: Scope) => Promise<void>) {
  return backgroundJob<TaskClaim, NoteWork, Noted>(deps, {
    ...taskSteps(deps, "note", "Noting"),
    name: "note",
    fresh: { said: null, content: null, memoryId: null },
    defer: (claim, until) => deferTask(deps.db, claim, until),
    load: (claim) => loadNote(deps, claim),
    prepare: (_, work) => limitNote(deps, work),
    make: ({ work }, renew) => told(deps, work, async () => ({ said: await writeNote(deps, work, renew) })),
    validate: ({ work, said }) => told(deps, work, async () => ({ content: said && noteContent(said) })),
    save: ({ claim, work, content }) =>
      told(deps, work, async () => ({
        memoryId: await oncemore(deps.logger, failureOf(work), () =>
          saveNote(deps, { claim, work, content }),
        ),
      })),
    follow: { name: "compact", run: ({ work }) => compact(work.owner) },
  });
}

const failureOf = ({ threadId }: NoteWork) => `Memory creation failed for ${threadId}`;

/** `step`, with an error line when it fails: what becomes of the work then is said by whoever settles it. */
async function told<Result>(
  { logger }: NotesRuntime,
  work: NoteWork,
  step: () => Promise<Result>,
): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof LeaseLost)) {
      const { threadId, owner } = work;
      const code = MemoryError.is(error) ? { code: error.code } : {};
      const fields = { threadId, appId: owner.appId, step: "note", ...code };
      logger.error(`❌ ${failureOf(work)}: ${errorLine(error)}`, fields);
    }
    throw error;
  }
}
