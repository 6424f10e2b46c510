import { z } from "zod";
import { spanOption } from "../text/parse-input.js";

/** Most notes that may be asked for: so many are one call of compaction, and one block of a prompt. */
const mostNotes = 100;

const appOptionsSchema = z.strictObject({
  /** What the app is called where models and people read of it. @default its id */
  name: z.string().trim().min(1).max(200).optional(),
  /** Most notes of this app. @default `notes.limit` */
  limit: z.int().min(1).max(mostNotes).optional(),
});

export const notesOptionsSchema = z.strictObject({
  /**
   * How long a conversation of an app is silent until it counts as over, where nobody ended it: half an hour, after which
   * web analytics too begin a new visit. A later message opens it again. Upkeep finds it within minutes. Raise it when users
   * answer the next morning.
   *
   * @default 1_800_000
   */
  idleMs: spanOption.min(1).default(1_800_000),
  /**
   * Most notes that an app keeps in a tenant; with one more, compaction decides which goes. 0: conversations leave no
   * notes. Set 0 where users of an app must not see what others said; raise it for apps with many subjects.
   *
   * @default 10
   */
  limit: z.int().min(0).max(mostNotes).default(10),
  /** What differs for single apps, by their id; set it to give an app a readable name. @default nothing */
  apps: z.record(z.string().min(1), appOptionsSchema).default({}),
});

/** How apps remember conversations that ended. */
export interface NotesConfig extends z.input<typeof notesOptionsSchema> {}

/** How apps remember conversations that ended. */
export type NotesOptions = z.output<typeof notesOptionsSchema>;

/** What holds for one app: how it is called, and how many notes it keeps. */
export interface AppNotes {
  readonly name: string;
  readonly limit: number;
}

/** What `options` say of the app `appId`. */
export function appNotes({ limit, apps }: NotesOptions, appId: string): AppNotes {
  // Not by the key alone: an app may be called "constructor".
  const own = Object.hasOwn(apps, appId) ? apps[appId] : undefined;
  return { name: own?.name ?? appId, limit: own?.limit ?? limit };
}

/** Whether conversations of an app leave a note when they end, which needs a model. */
export function leavesNotes({ limit }: Pick<NotesOptions, "limit">): boolean {
  return limit > 0;
}
