import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/index.js";
import type { ListMessages } from "../../src/transcript/list-messages.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const thread = { scope: { userId: "ana", appId: "shop" }, threadId: "t1" };
let memory: Memory;
beforeAll(async () => {
  memory = db.memory();
  const messages = Array.from({ length: 25 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    id: `m${index}`,
    content: `Message ${index}${index === 24 ? ` ${"😀".repeat(5_000)}` : ""}`,
  }));
  await memory.record({ ...thread, messages });
});
const seqs = async (how: Partial<ListMessages>) =>
  (await memory.threads.messages({ ...thread, ...how })).map(({ seq }) => seq);

describe("threads.messages", () => {
  it("threads.messages pages from the end, before and after a seq, in order", async () => {
    expect(await seqs({ limit: 3 })).toEqual([22, 23, 24]);
    expect(await seqs({ limit: 3, before: 22 })).toEqual([19, 20, 21]);
    expect(await seqs({ limit: 3, before: 2 })).toEqual([0, 1]);
    expect(await seqs({ limit: 3, after: -1 })).toEqual([0, 1, 2]);
    expect(await seqs({ limit: 3, after: 22 })).toEqual([23, 24]);
    expect(await seqs({})).toHaveLength(25);
    expect(await seqs({ before: 0 })).toEqual([]);
  });

  it("threads.messages cuts long texts between characters on request, and reports their length", async () => {
    const [whole] = await memory.threads.messages({ ...thread, limit: 1 });
    const [cut] = await memory.threads.messages({ ...thread, limit: 1, maxCharacters: 13 });
    expect(whole).toMatchObject({ seq: 24, messageId: "m24", role: "user", characters: 5_011 });
    expect(whole?.text).toBe(`Message 24 ${"😀".repeat(5_000)}`);
    expect(cut).toEqual({ ...whole, text: "Message 24 😀😀" });
    expect(cut?.saidAt).toBeInstanceOf(Date);
  });

  it("threads.messages is empty for an unknown thread, and refuses another user's thread and invalid pages", async () => {
    expect(await seqs({ threadId: "t2" })).toEqual([]);
    await expect(seqs({ scope: { userId: "zoe" } })).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    for (const invalid of [{ before: 3, after: 1 }, { limit: 0 }, { maxCharacters: 0 }])
      await expect(seqs(invalid)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});
