import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { memorySorts } from "../../src/memories/item/memory.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const memory = () => db.memory();

/** What a list answers, or the code of its refusal. */
const answerOf = (list: Promise<readonly object[]>) =>
  list.catch((error: { readonly code: string }) => error.code);

it("A page after another's id is refused as one after an unknown id", async () => {
  const { memories, consents } = memory();
  const mine = { tenantId: "globex", userId: "mallory" };
  const draft = { category: "profile", key: "city", value: "Porto", text: "Lives in Porto." };
  for (const others of [
    { ...mine, tenantId: "acme" },
    { ...mine, userId: randomUUID() },
  ]) {
    const ids: Record<"memory" | "consent", string>[] = [];
    // Mine lie between those of the other.
    for (const scope of [others, mine, others]) {
      const text = `The user keeps ${randomUUID()}.`;
      const [kept, asked] = await memories.add({ scope, memories: [{ text }, draft] });
      ids.push({ memory: kept?.id ?? "", consent: asked?.consentId ?? "" });
    }
    for (const { memory: after, consent } of [ids[0], ids[2]].flatMap((each) => each ?? [])) {
      for (const sort of memorySorts)
        expect(await answerOf(memories.list({ scope: mine, sort, after })), sort).toBe(
          "INVALID_INPUT",
        );
      const listed = answerOf(memories.list({ tenantId: randomUUID(), after }));
      expect(await listed).toBe("INVALID_INPUT");
      const requests = answerOf(consents.list({ scope: mine, after: consent }));
      expect(await requests).toBe("INVALID_INPUT");
    }
    const own = ids[1]?.memory;
    expect(await answerOf(memories.list({ scope: mine, sort: "oldest", after: own }))).toEqual([]);
  }
});

it("A page of erasures after another tenant's is as empty as one after an unknown id", async () => {
  const { memories, erasures, forget } = memory();
  for (const tenantId of ["first", "second"]) {
    const scope = { tenantId, userId: "ana" };
    await memories.add({ scope, memories: { text: "The user keeps bees." } });
    await forget({ scope });
  }
  const [seconds] = await erasures.list({ tenantId: "second" });
  const after = seconds?.id ?? "";
  expect(await erasures.list({ tenantId: "first", after })).toEqual([]);
  expect(await erasures.list({ tenantId: "first" })).toHaveLength(1);
});
