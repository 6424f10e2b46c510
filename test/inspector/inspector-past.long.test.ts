import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hasChromium } from "../support/chromium.js";
import { useInspectedPage } from "./inspected-page.js";

describe.skipIf(!hasChromium)("the inspector's view of the past", () => {
  const inspected = useInspectedPage();

  it("A picked time shows the memories of then, what is missing, and what a question found then", async () => {
    const { memory, page, open } = inspected;
    page.setDefaultTimeout(20_000);
    const userId = `past-${randomUUID()}`;
    const scope = { userId };
    await memory.record({
      scope,
      threadId: userId,
      messages: [{ role: "user", content: "I sail.", id: "m" }],
    });
    const source = { threadId: userId, seqs: [0], quote: "I sail" };
    const [written] = await memory.memories.add({
      scope,
      memories: [
        { text: "Rides a bicycle to the office." },
        { text: "Sails.", origin: "user", source },
      ],
    });
    const age = `update "${inspected.db.schema}".history set created_at = created_at - interval '2 days',
      snapshot = snapshot || jsonb_build_object('createdAt', now() - interval '2 days', 'validFrom', now() - interval '2 days')
      where owner_ref = (select id from "${inspected.db.schema}".owner where user_id = $1)`;
    await inspected.db.pool.query(age, [userId]);
    await memory.memories.update({ scope, id: written?.id ?? "", text: "Takes the tram." });
    await memory.transcript.remove({ scope, threadId: userId, messageId: "m" });

    await open(`memories?user=${userId}`);
    await page.getByText("Takes the tram.").waitFor();
    const yesterday = await page.evaluate<string>(
      `(() => { const d = new Date(Date.now() - 864e5); return new Date(d - d.getTimezoneOffset() * 6e4).toISOString().slice(0, 16); })()`,
    );
    await page.getByLabel("As of").fill(yesterday);
    await page.getByText("Rides a bicycle to the office.").waitFor();
    await page.getByText("This is what was known at").waitFor();
    await page.getByText("Not complete: 1 memory was forgotten.").waitFor();
    expect(await page.getByText("Takes the tram.").count()).toBe(0);
    expect(await page.getByText("Sails.").count()).toBe(0);

    await open(`question?user=${userId}&question=bicycle&asOf=${yesterday}`);
    await page.getByText("Rides a bicycle to the office.").waitFor();
    await page.getByText("Not complete: 1 memory was forgotten.").waitFor();
  });
});
