import { expect, it } from "vitest";
import { readCases } from "../../packages/server/src/cases/case-file.js";
import { exportCase } from "../../packages/server/src/cases/export-case.js";
import { playCase } from "../../packages/server/src/cases/play-case.js";
import { targetOf } from "../../packages/server/src/operations/caller.js";
import { operations } from "../../packages/server/src/operations/operations.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

it("A conversation is exported that plays again, without the names that memory knows", async () => {
  const model = new OfflineChatModel();
  const memory = db.memory({ model, config: { preset: "ledger", memories: { extract: true } } });
  const scope = { tenantId: "acme-eu", userId: "u-774", appId: "shop.eu" };
  const stranger = { userId: "somebody" };
  const threadId = "ticket-9";
  const turns = [
    { at: "2026-03-02T09:00:00Z", says: "Call me Kit. My ticket is ticket-9." },
    {
      at: "2026-03-02T09:05:00Z",
      says: "I am allergic to peanuts, signed KIT of acme-eu (u-774).",
    },
    { at: "2026-03-01T09:00:00Z", says: "A kitten lives in the shop.eu." },
  ];
  for (const { at, says } of turns) {
    const messages = [
      { role: "user", content: says },
      { role: "assistant", content: "Noted: 'yes', Kit's." },
    ];
    const { shown } = await memory.promptFor({ scope, threadId, query: says });
    await memory.remember({ scope, threadId, messages, shown, saidAt: new Date(at) });
    await memory.idle();
  }
  const caller = { role: "user" as const, scope };
  const target = targetOf("scope", caller, {});
  const { signal } = new AbortController();
  const stream = (async function* () {})();
  const context = { memory, caller, target, actor: "user", match: {}, signal, stream };
  const exported = async (by: typeof context) =>
    operations.exportCase.call(by, { threadId }) as Promise<{ yaml: string }>;
  const { yaml } = await exported(context);

  expect(yaml).not.toMatch(/\bkit\b|acme-eu|u-774|shop\.eu|ticket-9/i);
  expect(yaml).toContain("Call me Name1. My ticket is thread-1.");
  expect(yaml).toContain("signed Name1 of tenant-1 (user-1).");
  expect(yaml).toContain("A kitten lives in the app-1.");
  expect(yaml).toContain("question: A kitten lives");
  const read = readCases(yaml);
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  const [given] = read.cases;
  const played = await playCase({ ...given!, tenant: "again" }, (clock) =>
    db.memory({ clock, model, config: { preset: "ledger", memories: { extract: true } } }),
  );
  const words = "The user is allergic to peanuts.";
  expect(played).toMatchObject({ error: null, expectations: [{ kind: "shown", words, ok: true }] });

  const other = { ...context, target: targetOf("scope", { role: "user", scope: stranger }, {}) };
  await expect(exported(other)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("Replaces names of scripts without spaces, and no part of a word", () => {
  const message = (text: string) => ({
    seq: 0,
    messageId: "m",
    role: "user" as const,
    actor: null,
    agentId: null,
    text,
    characters: text.length,
    saidAt: new Date("2026-03-02T09:00:00Z"),
    timeZone: "UTC",
  });
  const yaml = exportCase({
    scope: { userId: "u" },
    threadId: "t-1",
    shown: ["Al is in t-1."],
    names: ["アナ", "Al", "i", "İpek"],
    messages: [message("アナです。 Al also calls al-Rashid. I am in t-1, not t-10. u İpek, İPEK")],
  });
  expect(yaml).toContain(
    "Name1です。 Name1 also calls Name1-Rashid. I am in thread-1, not t-10. u Name1, Name1",
  );
  expect(yaml).toContain("shown:\n        - Name1 is in thread-1.");
});
