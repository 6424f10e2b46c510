import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { hasChromium } from "../support/chromium.js";
import { useInspectedPage } from "./inspected-page.js";

describe.skipIf(!hasChromium)("whose memory the inspector shows", () => {
  const inspected = useInspectedPage();
  const { open } = inspected;
  let memory: Memory;
  let page: Page;
  beforeEach(() => {
    ({ memory, page } = inspected);
  });

  it("Failed and due work is that of whom one looks at, else headed as everybody's", async () => {
    await open("waiting");
    await page.getByRole("heading", { name: "Failed work of everybody 1" }).waitFor();
    await open("waiting?user=ana");
    const failed = page.getByRole("region", { name: "Failed work of ana" });
    await failed.getByText("None.").waitFor();
    await open("waiting?user=miguel&app=coach");
    await page.getByRole("heading", { name: "Failed work of miguel / coach 1" }).waitFor();
    await open("overview?user=ana");
    await page.getByRole("heading", { name: "Learned last" }).waitFor();
    await page.getByText("The user's preferred name is Anita.").first().waitFor();
    expect(await page.getByText("half-marathon").count()).toBe(0);
  });

  it("A user is found among hundreds by a part of the id, and an unknown id is said to be unknown", async () => {
    await Promise.all(
      Array.from({ length: 120 }, (_, at) =>
        memory.memories.add({ scope: { userId: `guest-${at}` }, memories: { text: "Knits." } }),
      ),
    );
    for (const userId of ["zora.first", "zora.last@customer.example", "li-zora"])
      await memory.memories.add({ scope: { userId }, memories: { text: "Paints." } });
    await open("overview");
    await page.getByRole("button", { name: "Whose: everyone" }).click();
    await page.getByLabel("User, app or words").fill("zora");
    await page.keyboard.press("Enter");
    await page.getByText("No such user or app. 2 begin with zora:").waitFor();
    await page
      .locator(".owners")
      .getByRole("link", { name: /^li-zora/ })
      .waitFor();
    await page
      .locator(".owners")
      .getByRole("link", { name: /^zora.last/ })
      .click();
    await page.getByRole("heading", { name: "zora.last@customer.example" }).waitFor();
    await open("overview?user=nobody-at-all");
    await page.getByText("No such user or app.").waitFor();
  });

  it("One field, opened by Ctrl-K or /, finds users, what was said and memories", async () => {
    const scope = { userId: "xenia" };
    const messages = [{ role: "user" as const, content: "My kayak leaks.", id: "kayak-1" }];
    await memory.record({ scope, threadId: "boats", messages });
    await memory.memories.add({ scope, memories: { text: "Paddles a red kayak." } });
    const field = page.getByLabel("User, app or words");
    await open("overview");
    await page.getByRole("heading", { name: "Latest conversations" }).waitFor();
    await page.keyboard.press("/");
    await field.fill("xenia");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "xenia", exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    // At once: no letter is lost.
    await page.keyboard.type("kayak");
    expect(await field.inputValue()).toBe("kayak");
    await page.getByRole("link", { name: "Memories with “kayak”" }).click();
    await page.getByRole("link", { name: "Paddles a red kayak." }).waitFor();
    await page.getByLabel("Search memories").press("Control+k");
    await field.fill("kayak");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "My kayak leaks." }).waitFor();
    expect(await field.count()).toBe(0);
  });

  it("Where nobody is known, the field of users says so", async () => {
    await page.route(/\/(users|apps)\?/, (route) =>
      route.fulfill({ json: { users: [], apps: [], nextCursor: null } }),
    );
    await open("changes");
    await page.getByText("Nobody is known yet.").waitFor();
  });

  it("A search in what was said tells the best messages from all", async () => {
    const scope = { userId: "kiri" };
    const say = (threadId: string, count: number) =>
      memory.record({
        scope,
        threadId,
        messages: Array.from({ length: count }, (_, at) => {
          return { role: "user" as const, content: `Kumquat ${at}.`, id: `${threadId}-${at}` };
        }),
      });
    await say("market", 2);
    await open("threads?user=kiri&said=kumquat");
    await page.getByText("2 messages", { exact: true }).waitFor();
    await say("orchard", 30);
    await page.reload();
    await page.getByText("30 messages of the 30 that fit best").waitFor();
  });

  it("A list of memories says which rows of how many it shows, page by page", async () => {
    const scope = { userId: "petra" };
    await memory.memories.add({
      scope,
      memories: Array.from({ length: 143 }, (_, at) => ({ text: `Has visited town ${at}.` })),
    });
    await open("memories?user=petra");
    await page.getByText("1 to 60 of 143").waitFor();
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByText("61 to 120 of 143").waitFor();
    await page.getByRole("button", { name: "First page" }).click();
    await page.getByText("1 to 60 of 143").waitFor();
  });

  it("What was removed stands in the list of changes without its words", async () => {
    const scope = { userId: "olga" };
    await memory.memories.add({ scope, memories: { text: "Owes her landlord two rents." } });
    const [debt] = await memory.memories.list({ scope });
    await open("changes?user=olga");
    await page.getByText("Owes her landlord").waitFor();
    await memory.memories.remove({ scope, id: debt?.id ?? "" });
    await page.getByText("(no longer kept)").nth(1).waitFor();
    expect(await page.getByText("landlord").count()).toBe(0);
  });
});
