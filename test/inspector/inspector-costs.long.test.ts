import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { hasChromium } from "../support/chromium.js";
import { useInspectedPage } from "./inspected-page.js";

describe.skipIf(!hasChromium)("what memory costs, in the inspector", () => {
  const inspected = useInspectedPage();
  const { db, open } = inspected;
  let page: Page;
  beforeEach(() => {
    ({ page } = inspected);
  });

  it("The cost of a week is one click away, by kind, app and user", async () => {
    await db.pool.query(`delete from "${db.schema}".usage`);
    await db.pool.query(
      `insert into "${db.schema}".usage
         (id, tenant_id, user_id, app_id, kind, input_tokens, output_tokens, units, created_at)
       select gen_random_uuid(), '', u.id, u.app, u.kind, u.input, 10, u.input / 100.0, now() - u.days * interval '24 hours'
       from (values ('ana', '', 'facts', 40000, 0), ('ana', '', 'facts', 2300, 3), ('miguel', 'coach', 'notes', 500, 2),
         ('ana', '', 'summaries', 90000, 20)) u (id, app, kind, input, days)`,
    );
    await open("overview");
    await page.getByRole("heading", { name: "Latest conversations" }).waitFor();
    await page.getByRole("link", { name: "Cost" }).click();
    await page.getByRole("row", { name: "Facts 42,300 20 2" }).waitFor();
    await page.getByRole("row", { name: "Notes 500 10 1" }).waitFor();
    await page.getByRole("row", { name: "coach 500 10 1" }).waitFor();
    await page.getByRole("row", { name: "miguel 500 10 1" }).waitFor();
    expect(await page.locator(".figure").allTextContents()).toEqual([
      ...["42,800", "30", "3", "428"],
    ]);
    await page.getByRole("link", { name: "30 days" }).click();
    await page.getByRole("row", { name: "Summaries 90,000 10 1" }).waitFor();
    await page.getByRole("link", { name: "Today" }).click();
    await page.getByRole("row", { name: "Facts 40,000 10 1" }).waitFor();
    await page.getByRole("link", { name: "ana", exact: true }).click();
    await page.getByRole("button", { name: "Whose: ana" }).waitFor();
    await page.getByRole("row", { name: /^Facts 40,000/ }).waitFor();
  });

  it("A table of the costs of some users says that it does not show all", async () => {
    const insertUsers = (from: number, to: number) =>
      db.pool.query(
        `insert into "${db.schema}".usage (id, tenant_id, user_id, app_id, kind, input_tokens, output_tokens, units, created_at)
         select gen_random_uuid(), '', 'guest-' || n, '', 'facts', 100, 10, 1, now() from generate_series(${from}, ${to}) n`,
      );
    await db.pool.query(`delete from "${db.schema}".usage`);
    await insertUsers(1, 2);
    await open("costs");
    const users = page.getByRole("region", { name: "By user" });
    await users.getByRole("row", { name: "guest-2 100 10 1" }).waitFor();
    expect(await users.getByText("took most").count()).toBe(0);
    await insertUsers(3, 25);
    await page.reload();
    await users.getByText("The 20 that took most.").waitFor();
  });
});
