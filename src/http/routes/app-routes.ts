import { z } from "zod";
import { cursorAfter, flag, nextCursor, page, scope, time } from "../answers/fields.js";
import { route } from "../route/route.js";

const app = z.strictObject({ appId: z.string() });
const note = app.extend({ memoryId: z.string() });
const because = z.strictObject({ reason: z.string().optional() });
const text = z.string();

const owner = z.strictObject({
  ...{ scope, memories: z.number(), threads: z.number(), items: z.number(), lastActivityAt: time.nullable() },
});

/** What apps remember of conversations that ended, and the apps themselves. */
export const appRoutes = {
  listApps: route({
    ...{ method: "get", path: "/apps", reach: "tenant" },
    summary: "The apps that something is kept of",
    query: z.strictObject(page),
    answer: z.strictObject({ apps: z.array(owner), nextCursor }),
    async call({ memory, whose, query: { limit, cursor: after } }) {
      const apps = await memory.apps.list({ ...whose, limit, after });
      return { apps: apps.map(withoutCursor), nextCursor: cursorAfter(apps, limit, (row) => row.cursor) };
    },
  }),
  uninstallApp: route({
    ...{ method: "delete", path: "/apps/:appId", reach: "app", params: app },
    summary: "Take an app out of use; its memories stay unless their purge is asked for",
    query: because.extend({ purgeMemories: flag.optional() }),
    answer: z.strictObject({
      ...{
        endedThreads: z.number(),
        deletedCount: z.number(),
        hiddenCount: z.number(),
        deletedItems: z.number(),
      },
    }),
    call: ({ memory, whose, query, actor }) => memory.apps.uninstall(whose.scope, { ...query, actor }),
  }),
  listAppMemories: route({
    ...{ method: "get", path: "/apps/:appId/memories", reach: "app", params: app },
    summary: "An app's notes, newest first; the header `Link` names the next page",
    query: z.strictObject(page),
    answer: z.strictObject({
      memories: z.array(z.strictObject({ id: text, content: text, createdAt: time, updatedAt: time })),
    }),
    async call({ memory, whose, query: { limit, cursor: after } }) {
      const notes = await memory.notes.list({ ...whose, limit, after });
      const memories = notes.map(({ id, text: content, createdAt, updatedAt }) => ({
        ...{ id, content, createdAt, updatedAt },
      }));
      const next = cursorAfter(notes, limit, ({ id }) => id);
      if (next === null) return { memories };
      // Its shape leaves no room for a cursor. Relative, since nobody here knows where the app is mounted.
      const query = new URLSearchParams({
        ...(limit !== undefined && { limit: String(limit) }),
        cursor: next,
      });
      return Response.json({ memories }, { headers: { link: `<?${query}>; rel="next"` } });
    },
  }),
  purgeAppMemories: route({
    ...{ method: "delete", path: "/apps/:appId/memories", reach: "app", params: app },
    summary: "Delete all notes of an app for good",
    query: because,
    answer: z.strictObject({ success: z.literal(true), deletedCount: z.number() }),
    async call({ memory, whose, query, actor }) {
      const { deletedCount } = await memory.notes.purge({ ...whose, ...query, actor });
      return { success: true as const, deletedCount };
    },
  }),
  removeAppMemory: route({
    ...{ method: "delete", path: "/apps/:appId/memories/:memoryId", reach: "app", params: note },
    summary: "Remove one note; for 30 days it can be restored",
    query: because,
    versioned: true,
    answer: z.strictObject({ success: z.literal(true) }),
    async call({ memory, whose, params: { memoryId }, query, actor, match }) {
      await memory.notes.remove(memoryId, { ...whose, ...query, ...match, actor });
      return { success: true as const };
    },
  }),
  countAppMemories: route({
    ...{ method: "get", path: "/apps/:appId/memories/count", reach: "app", params: app },
    summary: "How many notes are in use",
    answer: z.strictObject({ count: z.number() }),
    call: async ({ memory, whose }) => ({ count: await memory.notes.count(whose) }),
  }),
  appContext: route({
    ...{ method: "get", path: "/apps/:appId/memories/context", reach: "app", params: app },
    summary: "An app's notes as a part of a prompt; null without any",
    query: z.strictObject({ agent: z.string().optional() }),
    answer: z.strictObject({ context: z.string().nullable() }),
    call: async ({ memory, whose, query }) => ({
      context: await memory.notes.context({ ...whose, ...query }),
    }),
  }),
  listUsers: route({
    ...{ method: "get", path: "/users", reach: "tenant" },
    summary: "The users that something is kept of",
    query: z.strictObject(page),
    answer: z.strictObject({ users: z.array(owner), nextCursor }),
    async call({ memory, whose, query: { limit, cursor: after } }) {
      const users = await memory.users.list({ ...whose, limit, after });
      return { users: users.map(withoutCursor), nextCursor: cursorAfter(users, limit, (row) => row.cursor) };
    },
  }),
};

function withoutCursor<Row extends { readonly cursor: string }>({
  cursor: _,
  ...row
}: Row): Omit<Row, "cursor"> {
  return row;
}
