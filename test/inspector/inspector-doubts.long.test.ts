import { describe, expect, it } from "vitest";
import { hasChromium } from "../support/chromium.js";
import { consolidateNow } from "../support/consolidate-now.js";
import { judgingModel, samePair } from "../support/pair-judge.js";
import { restOn } from "../support/rests-on.js";
import { useInspectedPage } from "./inspected-page.js";

describe.skipIf(!hasChromium)("doubts in the inspector", () => {
  const inspected = useInspectedPage();

  it("An operator sees since when a memory is in doubt, and says that it holds", async () => {
    const { memory, db } = inspected;
    const scope = { userId: "vera" };
    const work = (value: string) => ({ text: `Works at ${value}.`, key: "employer", value });
    const [job] = await memory.memories.add({ scope, memories: work("Globex") });
    const insight = { kind: "insight", text: "Is bored by meetings." } as const;
    const [drawn] = await memory.memories.add({ scope, memories: insight });
    await restOn(db, job?.id, drawn?.id);
    await memory.memories.add({ scope, memories: work("Initech") });

    const id = drawn?.id ?? "";
    await inspected.open(`memory?user=vera&id=${id}`);
    await inspected.page.getByText("In doubt since").waitFor();
    await inspected.act("It still holds", "she said so");
    await inspected.page.getByText("In doubt since").waitFor({ state: "detached" });
    await inspected.page.getByText("she said so").waitFor();
    expect(await memory.memories.get({ scope, id })).toMatchObject({ doubtedAt: null });
  });

  it("A memory's page shows what contradicts it, whichever of the two is looked at", async () => {
    const { open, page, db } = inspected;
    const scope = { userId: "olga" };
    const judge = db.memory({ model: judgingModel(() => "contradicts") });
    const [summer, hikes] = samePair;
    await judge.memories.add({ scope, memories: [{ ...summer, pinned: true }, hikes] });
    await consolidateNow(judge, { scope });
    const diet = (value: string, origin: "user" | "assistant") =>
      judge.memories.add({
        scope,
        memories: { text: `Eats ${value}.`, key: "diet", value, origin },
      });
    await diet("fish", "user");
    await diet("meat", "assistant");
    await diet("rice", "user");
    const all = await judge.memories.list({ scope, states: ["active", "superseded"] });
    const idOf = (part: string) => all.find(({ text }) => text.includes(part))?.id;
    const against = page.getByRole("region", { name: "What contradicts it" });
    for (const [of, ...expected] of [
      ["Alps every summer", "Every summer the user", "contradicts, both kept (pinned)"],
      ["hikes across", "Alps every summer", "contradicts, both kept (pinned)"],
      ["Eats fish", "Eats rice.", "took its place", "Eats meat.", "not believed"],
      ["Eats rice", "Eats fish.", "superseded"],
    ] as const) {
      await open(`memory?user=olga&id=${idOf(of)}`);
      await page.getByRole("heading", { name: of }).waitFor();
      const told = await against.textContent();
      for (const part of expected) expect(told).toContain(part);
    }
    await judge.memories.remove({ scope, id: idOf("hikes across") ?? "" });
    await open(`memory?user=olga&id=${idOf("Alps every summer")}`);
    await against.getByText("soft deleted").waitFor();
  });

  it("An operator sees a run of consolidation that waits, applies it, and undoes that", async () => {
    const scope = { userId: "ivo" };
    const judge = inspected.db.memory({ model: judgingModel(() => "same") });
    await judge.memories.add({ scope, memories: samePair });
    await judge.consolidations.preview({ scope });
    await inspected.open("overview?user=ivo");
    await inspected.page.getByRole("link", { name: "1 to merge, 0 to close" }).click();
    await inspected.page.getByRole("heading", { name: "Waiting" }).waitFor();
    await inspected.page.getByText("1 to merge, 0 to close").waitFor();
    await inspected.act("Apply", "");
    await inspected.page.getByText("1 to merge").waitFor({ state: "detached" });
    expect(await judge.memories.list({ scope })).toHaveLength(1);
    await inspected.page.getByRole("button", { name: "Undo" }).click();
    await inspected.page.getByText("Apply: done").waitFor({ state: "detached" });
    expect(await judge.memories.list({ scope })).toHaveLength(2);
  });
});
