import { generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

const db = useTestDatabase();

const callers = {
  operator: { role: "operator", actor: "joe" },
  acme: { role: "operator", tenantId: "acme" },
  ana: { role: "user", scope: { userId: "ana" } },
} as const;

it("An operator's memory has its redacted reason in its history; a user and another tenant's operator are refused", async () => {
  const memory = db.memory({ redact: (text) => text.replaceAll("12345", "[number]") });
  const { operator, acme, ana } = httpClients(memory, callers);
  const body = { memories: [{ text: "Drinks tea." }], reason: "12345 called" };
  const [{ id }] = (await operator("POST", "/memories?userId=ana", body)).body.outcomes;
  expect((await ana("GET", `/memories/${id}`)).body).toMatchObject({ trust: "operator" });
  const { events } = (await operator("GET", `/memory/${id}/history?userId=ana`)).body;
  const reason = "[number] called";
  expect(events).toMatchObject([{ event: "ADD", actor: "joe", new: { reason } }]);

  expect((await ana("POST", "/memories?userId=bob", body)).status).toBe(404);
  expect((await acme("POST", "/memories?tenantId=other&userId=bob", body)).status).toBe(404);
  const claimed = { ...body, memories: [{ text: "Drinks rum.", origin: "operator" }] };
  for (const claim of [
    claimed,
    { ...body, role: "operator" },
    { ...body, reason: "x".repeat(2_001) },
  ])
    expect((await ana("POST", "/memories", claim)).status).toBe(400);
});

it("The settings in use are for operators of all tenants, marked where they were changed, without secrets", async () => {
  const { privateKey: pair } = generateKeyPairSync("ed25519");
  const privateKey = pair.export({ type: "pkcs8", format: "pem" }).toString();
  const memory = createMemory({
    database: "postgres://joe:hunter2@localhost/none",
    screen: (text) => text === "hunter2",
    redact: "secrets",
    config: {
      preset: "every-round",
      receipts: { privateKey },
      retrieval: { topK: 5, budgetTokens: 1_500, rerank: { with: async () => ["hunter2".length] } },
    },
  });
  const { operator, acme, ana } = httpClients(memory, callers);
  for (const refused of [ana, acme]) expect((await refused("GET", "/settings")).status).toBe(404);
  const { settings } = (await operator("GET", "/settings")).body;
  const [changed, defaults] = [true, false].map((is) =>
    settings.flatMap((each: { group: string; name: string; value: unknown; changed: boolean }) =>
      each.changed === is ? [[each.group, each.name, each.value]] : [],
    ),
  );
  expect(changed).toEqual([
    ["createMemory", "database", "given"],
    ["createMemory", "screen", "given"],
    ["createMemory", "redact", "secrets"],
    ["createMemory", "config", "given"],
    ["preset", "preset", "every-round"],
    ["receipts", "privateKey", "given"],
    ["retrieval", "topK", 5],
    ["retrieval", "rerank", { with: "given", timeoutMs: 300, limit: 20 }],
  ]);
  for (const usual of [
    ["receipts", "idKey", null],
    ["retrieval", "budgetTokens", 1_500],
    ["consent", "ask", "said"],
  ])
    expect(defaults).toContainEqual(usual);
  expect(JSON.stringify(settings)).not.toMatch(/hunter2|PRIVATE|=>/);
  await memory.close();
});
