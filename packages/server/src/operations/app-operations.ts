import { z } from "zod";
import {
  each,
  flag,
  nullableText,
  nullableTime,
  number,
  optionalText,
  page,
  pageFrom,
  pageOf,
  reasonField,
  scope,
  text,
  time,
  withDescription,
} from "./fields.js";
import { operation } from "./operation.js";

const app = { appId: text };
const ownersPage = {
  ...page,
  sort: z.enum(["oldest", "active"]).optional(),
  search: withDescription(
    optionalText,
    "A beginning or a part of the id: then one page, the latest active first.",
  ),
};
/** The latest active ones are one page. */
const cursorIn =
  ({ search, sort }: z.output<z.ZodObject<typeof ownersPage>>) =>
  ({ cursor }: { readonly cursor: string }) =>
    search === undefined && sort !== "active" ? cursor : null;
const note = z.strictObject({
  ...each(text, "id", "content"),
  ...each(time, "createdAt", "updatedAt"),
});
const owner = z.strictObject({
  scope,
  ...each(number, "memories", "threads", "items"),
  lastActivityAt: nullableTime,
  cursor: text,
});

export const appOperations = {
  listApps: operation("get", "/apps", "tenant", {
    does: "The apps that something is kept of",
    input: ownersPage,
    answer: pageOf("apps", owner),
    call: ({ memory, target }, input) =>
      pageFrom("apps", input, memory.apps.list({ ...target, ...input }), cursorIn(input)),
  }),
  uninstallApp: operation("delete", "/apps/:appId", "app", {
    does: "Take an app out of use; its memories stay unless their purge is asked for",
    input: { ...app, ...reasonField, purgeMemories: flag.optional() },
    answer: z.strictObject(
      each(number, "endedThreads", "deletedCount", "hiddenCount", "deletedItems"),
    ),
    call: ({ memory, target, actor }, { appId: _, ...how }) =>
      memory.apps.uninstall({ ...how, ...target, actor }),
  }),
  listAppMemories: operation("get", "/apps/:appId/memories", "app", {
    does: "An app's notes, newest first",
    input: { ...app, ...page },
    // The last page has no cursor at all.
    answer: z.strictObject({ memories: z.array(note), nextCursor: optionalText }),
    async call({ memory, target }, { limit, after }) {
      const notes = memory.notes.list({ ...target, limit, after });
      const { nextCursor, rows } = await pageFrom("rows", { limit }, notes, ({ id }) => id);
      const memories = rows.map(({ id, text, createdAt, updatedAt }) => ({
        id,
        content: text,
        createdAt,
        updatedAt,
      }));
      return { memories, ...(nextCursor !== null && { nextCursor }) };
    },
  }),
  purgeAppMemories: operation("delete", "/apps/:appId/memories", "app", {
    does: "Delete all notes of an app for good",
    input: { ...app, ...reasonField },
    answer: z.strictObject({ success: z.literal(true), deletedCount: number }),
    async call({ memory, target, actor }, { reason }) {
      const { deletedCount } = await memory.notes.purge({ ...target, reason, actor });
      return { success: true as const, deletedCount };
    },
  }),
  removeAppMemory: operation("delete", "/apps/:appId/memories/:memoryId", "app", {
    does: "Remove one note; until its purge it can be restored",
    input: { ...app, memoryId: text, ...reasonField },
    versioned: true,
    answer: z.strictObject({ success: z.literal(true) }),
    async call({ memory, target, actor, match }, { memoryId, reason }) {
      await memory.notes.remove({ ...target, id: memoryId, reason, ...match, actor });
      return { success: true as const };
    },
  }),
  countAppMemories: operation("get", "/apps/:appId/memories/count", "app", {
    does: "How many notes are in use",
    input: app,
    answer: z.strictObject({ count: number }),
    call: async ({ memory, target }) => ({ count: await memory.notes.count(target) }),
  }),
  appContext: operation("get", "/apps/:appId/memories/context", "app", {
    does: "An app's notes as a part of a prompt; null without any",
    input: { ...app, agent: optionalText },
    answer: z.strictObject({ context: nullableText }),
    call: async ({ memory, target }, { agent }) => ({
      context: await memory.notes.context({ ...target, agent }),
    }),
  }),
  listUsers: operation("get", "/users", "tenant", {
    does: "The users that something is kept of",
    input: ownersPage,
    answer: pageOf("users", owner),
    call: ({ memory, target }, input) =>
      pageFrom("users", input, memory.users.list({ ...target, ...input }), cursorIn(input)),
  }),
};
