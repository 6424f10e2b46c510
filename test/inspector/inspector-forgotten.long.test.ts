import { generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { erasureReceipt, receiptProblems } from "../../src/retention/forgetting/receipt.rule.js";
import { hasChromium } from "../support/chromium.js";
import { openInspected } from "../support/inspected.js";
import { useInspectedPage } from "./inspected-page.js";

describe.skipIf(!hasChromium)("the inspector's page of what was forgotten", () => {
  const inspected = useInspectedPage();
  const { open, click } = inspected;
  let page: Page;
  beforeEach(() => {
    ({ page } = inspected);
  });
  const pair = generateKeyPairSync("ed25519");
  const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const publicKey = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
  const receipts = { privateKey, idKey: "a secret that is in no table, of 40 letters" };

  /** The page of a server whose receipts have keys, after `userId` was erased there. */
  async function openAfterErasing(userId: string) {
    const memory = inspected.db.memory({ config: { receipts } });
    await memory.memories.add({ scope: { userId }, memories: { text: "Paints." } });
    await memory.forget({ scope: { userId }, actor: "joe" });
    const server = await openInspected(memory, {
      authenticate: () => ({ role: "operator", actor: "joe" }),
    });
    await page.goto(`${server.origin}/inspector/`);
    await page.getByRole("heading", { name: "Latest conversations" }).waitFor();
    return server;
  }
  async function receiptOfPage() {
    const downloading = page.waitForEvent("download");
    await click("button", "Receipt");
    const text = await readFile(await (await downloading).path(), "utf8");
    return { text, receipt: erasureReceipt.parse(JSON.parse(text)) };
  }

  it("An erasure is proved in two clicks, and a planted leftover is found", async () => {
    const server = await openAfterErasing("erased-eve");
    await click("link", "Forgotten");
    const { text, receipt } = await receiptOfPage();
    expect(inspected.clicks).toBe(2);
    expect(receiptProblems(receipt, publicKey)).toEqual([]);
    expect(text).not.toContain("erased-eve");
    await page.getByText("Checked now: nothing of this id is left.").waitFor();
    await page.getByText("The receipt is signed.").waitFor();
    expect(await page.locator("main").textContent()).toMatch(
      /A user.*done.*by joe.*before, 0 after/,
    );
    expect(await page.locator("main").textContent()).not.toContain("erased-eve");

    await inspected.db.pool.query(
      `insert into ${inspected.db.schema}.event (tenant_id, user_id, app_id, node, op, status)
       values ('', 'erased-eve', '', 'context', 'search', 'ok')`,
    );
    const planted = await receiptOfPage();
    await page.getByText("Rows are there, left over or written since: event 1.").waitFor();
    expect(receiptProblems(planted.receipt, publicKey)).toEqual([
      "Rows were there when it was made: 1 in event.",
    ]);
    await server.close();
  });

  it("Whether an id was erased is asked for by the id, and nobody is named", async () => {
    const server = await openAfterErasing("erased-ada");
    await click("link", "Forgotten");
    await page.getByLabel("Was this user erased?").fill("nobody-at-all");
    await click("button", "Ask");
    await page.getByText("No erasure of this id is known.").waitFor();
    await page.getByLabel("Was this user erased?").fill("erased-ada");
    await click("button", "Ask");
    await page.getByRole("button", { name: "Receipt" }).waitFor();
    expect(await page.getByRole("button", { name: "Receipt" }).count()).toBe(1);
    await server.close();
  });

  it("Without keys the page says what is not kept and not signed, and lists what users asked to forget", async () => {
    const { memory, db } = inspected;
    const scope = { userId: "nils" };
    const [owes] = await memory.memories.add({ scope, memories: { text: "Owes two rents." } });
    await memory.memories.remove({ scope, id: owes?.id ?? "" });
    await db.pool.query(
      `update ${db.schema}.history set new = new || '{"evidence": {"quote": "Forget my rents."}}'
       where memory_id = $1 and event = 'DELETE'`,
      [owes?.id],
    );
    await memory.memories.add({ scope: { userId: "gone" }, memories: { text: "Knits." } });
    await memory.forget({ scope: { userId: "gone" } });
    await open("forgotten");
    await page.getByText(/Nothing is kept of erased ids without/).waitFor();
    await click("button", "Receipt");
    await page.getByText("The receipt is unsigned.").waitFor();
    const requests = page.getByRole("region", { name: "Asked to forget" });
    await requests.getByText("1 memory").first().waitFor();
    expect(await requests.textContent()).toMatch(/nils.*1 waiting.*can be restored until/);
    expect(await requests.textContent()).not.toContain("rents");
    await page.getByLabel("Was this user erased?").fill("gone");
    await click("button", "Ask");
    await page.getByText(/Set `receipts.idKey`/).waitFor();
    inspected.wrong.length = 0; // the refused call
  });
});
