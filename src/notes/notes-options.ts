import { z } from "zod";
import { spanOption, timerOption } from "../text/parse-input.js";

/** Most notes that may be asked for: so many are one call of compaction, and one block of a prompt. */
const mostNotes = 100;

const appOptionsSchema = z.strictObject({
  /** What the app is called where models and people read of it. @default its id */
  name: z.string().trim().min(1).max(200).optional(),
  /** Most notes of this app. @default `notes.limit` */
  limit: z.int().min(1).max(mostNotes).optional(),
});

export const notesOptionsSchema = z.strictObject({
  /** Whether conversations of an app leave a note when they end. Needs a model. @default true */
  enabled: z.boolean().default(true),
  /**
   * How long a conversation of an app is silent until it counts as over, where nobody ended it: half an hour, after which
   * web analytics too begin a new visit. Who goes on later opens it again. It is found by upkeep, so up to
   * a minute later.
   *
   * @default 1_800_000
   */
  idleMs: spanOption.min(1).default(1_800_000),
  /** Most notes that an app keeps in a tenant; with one more, compaction decides which goes. @default 10 */
  limit: z.int().min(1).max(mostNotes).default(10),
  /** What differs for single apps, by their id. @default nothing */
  apps: z.record(z.string().min(1), appOptionsSchema).default({}),
  /** Longest wait for one model call; a decision of compaction that comes later is none. @default 30_000 */
  timeoutMs: timerOption.min(1).default(30_000),
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
