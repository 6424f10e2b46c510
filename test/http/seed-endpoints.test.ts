import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

const db = useTestDatabase();
let memory: Memory;
let api: ReturnType<typeof clients>;
const clients = () =>
  httpClients(memory, {
    operator: { role: "operator", actor: "admin" },
    acme: { role: "operator", tenantId: "acme" },
    calendar: { role: "user", scope: { appId: "calendar" } },
    mail: { role: "user", scope: { appId: "mail" } },
    ana: { role: "user", scope: { userId: "ana", appId: "calendar" } },
  });

beforeAll(() => {
  memory = db.memory();
  api = clients();
});

const addNote = async (appId: string, text: string) => {
  const [written] = await memory.memories.add({
    scope: { appId },
    memories: { text, kind: "note" },
  });
  return written?.id as string;
};

describe("an app's memories", () => {
  it("An app's memories are listed, deleted one by one and purged in the agreed shapes", async () => {
    const id = await addNote("calendar", "Users of the calendar ask for weekly views.");
    await addNote("calendar", "Reminders at night were turned off by most.");

    const listed = await api.operator("GET", "/apps/calendar/memories");
    expect(listed.status).toBe(200);
    expect(Object.keys(listed.body)).toEqual(["memories"]);
    expect(listed.body.memories).toHaveLength(2);
    expect(listed.body.memories[1]).toEqual({
      id,
      content: "Users of the calendar ask for weekly views.",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    const removed = await api.operator("DELETE", `/apps/calendar/memories/${id}?reason=outdated`);
    expect(removed.body).toEqual({ success: true });
    const [deleted] = (await api.operator("GET", `/memory/${id}/history?appId=calendar`)).body
      .events;
    expect(deleted).toMatchObject({ event: "DELETE", actor: "admin", new: { reason: "outdated" } });
    expect((await api.operator("DELETE", "/apps/calendar/memories")).body).toEqual({
      success: true,
      deletedCount: 1,
    });
    expect((await api.operator("GET", "/apps/calendar/memories")).body).toEqual({ memories: [] });
  });

  it("An app's memories come in pages that the header Link names", async () => {
    for (const day of ["Monday", "Tuesday", "Friday"])
      await addNote("a/b ü", `Meetings were moved to ${day}.`);
    const place = `/apps/${encodeURIComponent("a/b ü")}/memories`;
    const first = await api.operator("GET", `${place}?limit=2`);
    expect(first.body.memories).toHaveLength(2);
    const [, next = ""] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get("link") ?? "") ?? [];
    const second = await api.operator("GET", `${place}${next}`);
    expect(second.body.memories).toEqual([
      expect.objectContaining({ content: "Meetings were moved to Monday." }),
    ]);
    expect(second.headers.get("link")).toBeNull();
  });

  it("An app's memories answer 404 to another app, a user of the app, and another tenant's operator", async () => {
    const id = await addNote("calendar", "Invitations are accepted by default.");
    expect((await api.calendar("GET", "/apps/calendar/memories")).body.memories).toHaveLength(1);
    for (const [call, path] of [
      [api.mail, "/apps/calendar/memories"],
      [api.ana, "/apps/calendar/memories"],
      [api.ana, "/apps/mail/memories"],
    ] as const) {
      expect(await call("GET", path)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
      expect(await call("DELETE", path)).toMatchObject({ status: 404 });
      expect(await call("DELETE", `${path}/${id}`)).toMatchObject({ status: 404 });
    }
    // The operator's own tenant has another app of that name.
    expect((await api.acme("GET", "/apps/calendar/memories")).body).toEqual({ memories: [] });
    expect((await api.acme("DELETE", "/apps/calendar/memories")).body).toEqual({
      success: true,
      deletedCount: 0,
    });
    expect(await api.acme("GET", "/apps/calendar/memories?tenantId=other")).toMatchObject({
      status: 404,
    });
    expect(await api.mail("DELETE", `/apps/mail/memories/${id}`)).toMatchObject({ status: 404 });
    expect(await memory.notes.count({ scope: { appId: "calendar" } })).toBe(1);
  });
});
