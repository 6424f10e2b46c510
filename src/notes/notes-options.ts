import { z } from "zod";
import { spanOption } from "../text/parse-input.js";

/** One compaction call and one block of a prompt hold so many. */
const mostNotes = 100;

const appOptionsSchema = z.strictObject({
  /** The app's name for models and people. @default its id */
  name: z.string().trim().min(1).max(200).optional(),
  /** Most notes of this app. @default `notes.limit` */
  limit: z.int().min(1).max(mostNotes).optional(),
});

export const notesOptionsSchema = z.strictObject({
  /**
   * How long a conversation of an app is silent until it counts as over: half an hour, after which web analytics too
   * begin a new visit. A later message reopens it. Raise it when users answer the next morning. @default 1_800_000
   */
  idleMs: spanOption.min(1).default(1_800_000),
  /**
   * Most notes that an app keeps in a tenant; with one more, compaction decides which goes. Of a full app's notes
   * one user's conversations leave at most half. Set 0 where users must not see what others said: then none are left. Raise it for apps with many subjects. @default 10
   */
  limit: z.int().min(0).max(mostNotes).default(10),
  /** Overrides by app id; set it to give an app a readable name. @default none */
  apps: z.record(z.string().min(1), appOptionsSchema).default({}),
});

export interface NotesConfig extends z.input<typeof notesOptionsSchema> {}

export type NotesOptions = z.output<typeof notesOptionsSchema>;

export interface AppNotes {
  readonly name: string;
  readonly limit: number;
}

export function appNotes({ limit, apps }: NotesOptions, appId: string): AppNotes {
  // An app may be called "constructor".
  const own = Object.hasOwn(apps, appId) ? apps[appId] : undefined;
  return { name: own?.name ?? appId, limit: own?.limit ?? limit };
}

/** Half of an app's notes, so that no user, however many conversations they end, takes the room of all others. */
export function shareOfUser({ limit }: AppNotes): number {
  return Math.ceil(limit / 2);
}

/** Whether conversations of an app leave a note when they end, which needs a model. */
export function leavesNotes({ limit }: Pick<NotesOptions, "limit">): boolean {
  return limit > 0;
}
