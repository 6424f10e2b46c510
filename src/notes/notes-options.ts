import { z } from "zod";
import { spanOption } from "../input/parse-input.js";

/** As many fit into one compaction call and one prompt. */
const maxNotes = 100;

const appOptionsSchema = z.strictObject({
  /** The app's name for models and people. @default its id */
  name: z.string().trim().min(1).max(200).optional(),
  /** Most notes of this app. @default `notes.limit` */
  limit: z.int().min(1).max(maxNotes).optional(),
});

export const notesOptionsSchema = z.strictObject({
  /**
   * A conversation of an app ends after this silence: half an hour, as in web analytics. A later
   * message reopens it. Raise it if users answer the next morning.
   * @default 1_800_000
   */
  idleMs: spanOption.min(1).default(1_800_000),
  /**
   * Most notes of an app in a tenant, at most half of them from one user; compaction removes
   * others. Raise it for apps with many subjects. 0 writes none: set it if users must not see what
   * others said.
   * @default 10
   */
  limit: z.int().min(0).max(maxNotes).default(10),
  /** Overrides by app id. @default none */
  apps: z.record(z.string().min(1), appOptionsSchema).default({}),
});

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

/** Half of an app's notes, so that no user displaces all others. */
export function shareOfUser({ limit }: AppNotes): number {
  return Math.ceil(limit / 2);
}

/** Whether ended conversations leave notes, which needs a model. */
export function leavesNotes({ limit }: Pick<NotesOptions, "limit">): boolean {
  return limit > 0;
}
