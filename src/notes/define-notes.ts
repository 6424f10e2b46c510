import { MemoryError } from "../errors.js";
import { errorLine } from "../logger.js";
import type { Scope } from "../scope/scope.js";
import { defineWork } from "../work/define-work.js";
import { limitThread } from "../work/limit-material.js";
import { LeaseLost } from "../work/work-table.js";
import { loadNote, type NotesRuntime, type NoteWork } from "./load-note.js";
import { noteContent } from "./note-text.rule.js";
import { leavesNotes } from "./notes-options.js";
import { type Noted, retryOnce, saveNote } from "./save-note.js";
import { writeNote } from "./write-note.js";

/** Writes the note of a conversation that ended: load → ask → check → save → compaction. */
export function defineNotes(deps: NotesRuntime, compact: (owner: Scope) => Promise<void>) {
  const { notes, upkeep } = deps.config;
  return defineWork<NoteWork, Noted>(
    {
      kind: "notes",
      of: "thread",
      policy: {
        enabled: leavesNotes(notes),
        tries: upkeep,
        from: -1,
        waits: true,
        heedsRequests: true,
      },
      fresh: { said: null, content: null, memoryId: null },
      steps: {
        // The messages since its last note, once the conversation has ended.
        load: (claim) => loadNote(deps, claim),
        limit: (_, work) => limitThread(deps, "notes", work),
        // The note, piece by piece.
        ask: ({ work }, tools) =>
          logged(deps, work, async () => ({ said: await writeNote(deps, work, tools) })),
        check: ({ work, said }) =>
          logged(deps, work, async () => ({ content: said && noteContent(said) })),
        save: (made) =>
          logged(deps, made.work, async () => ({
            memoryId: await retryOnce(deps.logger, noteFailed(made.work), () =>
              saveNote(deps, made),
            ),
          })),
        follow: { name: "compaction", run: ({ work }) => compact(work.owner) },
      },
    },
    deps,
  );
}

const noteFailed = ({ threadId }: NoteWork) => `Memory creation failed for ${threadId}`;

async function logged<Result>(
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
      const fields = { threadId, appId: owner.appId, step: "notes", ...code };
      logger.error(`❌ ${noteFailed(work)}: ${errorLine(error)}`, fields);
    }
    throw error;
  }
}
