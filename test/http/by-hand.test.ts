import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import type { MemoryConfig } from "../../src/options.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

const db = useTestDatabase();

const callers = {
  operator: { role: "operator", actor: "joe" },
  acme: { role: "operator", tenantId: "acme" },
  ana: { role: "user", scope: { userId: "ana" } },
} as const;

describe("memories by hand", () => {
  const tea = { text: "Drinks tea at night.", category: "preferences", key: "drink", value: "tea" };

  it("An operator's memory has a redacted reason in its history, and the trust of a correction", async () => {
    const memory = db.memory({ redact: (text) => text.replaceAll("12345", "[number]") });
    const { operator, ana } = httpClients(memory, callers);
    const body = { memories: [tea], reason: "she called from 12345" };
    const place = "/memories?userId=ana";
    const { outcomes } = (await operator("POST", place, body)).body;
    const { id } = outcomes[0];
    const own = (await ana("GET", `/memories/${id}`)).body;
    expect(own).toMatchObject({ trust: "operator", origin: "unknown", scope: { userId: "ana" } });
    const { events } = (await operator("GET", `/memory/${id}/history?userId=ana`)).body;
    const reason = "she called from [number]";
    expect(events).toMatchObject([{ event: "ADD", actor: "joe", new: { reason } }]);
    // The reason stands beside what the change is, and in no memory.
    expect(JSON.stringify(own)).not.toContain("she called");
    const again = { memories: [{ ...tea, value: "mate", text: "Drinks mate." }], reason: "again" };
    const [mate] = (await operator("POST", place, again)).body.outcomes;
    expect(mate.outcome).toBe("replaced");
    const trail = (await operator("GET", `/memory/${mate.id}/history?userId=ana`)).body.events;
    expect(trail).toMatchObject([{ event: "ADD", new: { reason: "again" } }]);
    const long = { memories: [tea], reason: "x".repeat(2_001) };
    expect((await operator("POST", place, long)).status).toBe(400);
  });

  it("Who writes follows from the identity: a user names no other, and no operator another tenant", async () => {
    const { operator, acme, ana } = httpClients(db.memory(), callers);
    const write = { memories: [{ text: "Keeps bees." }], reason: "by hand" };
    expect((await ana("POST", "/memories?userId=bob", write)).status).toBe(404);
    const claimed = { ...write, memories: [{ text: "Keeps bees.", origin: "operator" }] };
    expect((await ana("POST", "/memories", claimed)).status).toBe(400);
    for (const body of [
      { ...write, role: "operator" },
      { ...write, actor: "joe" },
    ])
      expect((await ana("POST", "/memories", body)).status).toBe(400);
    const others = "/memories?tenantId=globex&userId=bob";
    expect((await acme("POST", others, write)).status).toBe(404);
    expect((await acme("POST", "/memories?userId=bob", write)).status).toBe(200);
    expect((await operator("GET", others)).body.memories).toEqual([]);
    const kept = await operator("GET", "/memories?tenantId=acme&userId=bob");
    expect(kept.body.memories).toMatchObject([{ scope: { tenantId: "acme", userId: "bob" } }]);
  });
});

describe("settings in use", () => {
  const { privateKey: pair } = generateKeyPairSync("ed25519");
  const privateKey = pair.export({ type: "pkcs8", format: "pem" }).toString();
  const idKey = "a secret that is in no table, of 40 letters";

  it("The settings in use are for operators of all tenants, with what was changed and without secrets", async () => {
    const source = "the source of a function";
    const config = {
      preset: "every-round",
      receipts: { privateKey, idKey },
      retrieval: {
        topK: 5,
        timeZone: "Europe/Lisbon",
        rerank: { with: async () => [source.length] },
      },
      categories: { custom: [{ name: "cars" }] },
      allowlists: { planner: ["constraints", "cars"] },
      consent: { ask: "queue" },
      notes: { limit: 10 },
    } satisfies MemoryConfig;
    const embeddings = Object.assign(new HashingEmbeddings(), { apiKey: "sk-embeddings" });
    const screen = (text: string) => text.includes(source);
    const memory = db.memory({ config, embeddings, screen, redact: "secrets" });
    const { operator, acme, ana } = httpClients(memory, callers);
    for (const refused of [ana, acme]) expect((await refused("GET", "/settings")).status).toBe(404);
    expect((await acme("GET", "/settings?tenantId=acme")).status).toBe(404);
    const { status, body } = await operator("GET", "/settings");
    expect(status).toBe(200);
    expect(body).toEqual(memory.settings());
    expect(body.preset).toBe("every-round");

    type Setting = { name: string; value: unknown; default: unknown; changed: boolean };
    const groups = new Map<string, Setting[]>(
      body.groups.map((group: { name: string; settings: Setting[] }) => [
        group.name,
        group.settings,
      ]),
    );
    const setting = (group: string, name: string) =>
      groups.get(group)?.find((each) => each.name === name);
    const changed = [...groups].flatMap(([group, settings]) =>
      settings.flatMap((each) => (each.changed ? `${group}.${each.name}` : [])),
    );
    // What a test's memory leaves out.
    const tests = ["insights.enabled", "consolidation.enabled"];
    const options = ["database", "schema", "jobs", "embeddings", "logger", "redact", "screen"];
    expect(changed.toSorted()).toEqual(
      [
        ...[...tests, "memories.extract", "memories.episodes"],
        ...options.map((name) => `createMemory.${name}`),
        ...["receipts.privateKey", "receipts.idKey", "categories.cars", "allowlists.planner"],
        ...["retrieval.topK", "retrieval.timeZone", "retrieval.rerank", "consent.ask"],
      ].toSorted(),
    );
    expect(setting("retrieval", "topK")).toMatchObject({ value: 5, default: 8 });
    expect(setting("retrieval", "threshold")).toMatchObject({ value: null, changed: false });
    expect(setting("retrieval", "rerank")?.value).toEqual({
      with: "given",
      timeoutMs: 300,
      limit: 20,
    });
    expect(setting("categories", "cars")?.value).toEqual({
      name: "cars",
      context: "rag",
      level: "user",
    });
    expect(setting("createMemory", "redact")?.value).toBe("secrets");
    for (const name of ["database", "embeddings", "screen", "logger"])
      expect(setting("createMemory", name)?.value).toBe("given");
    const all = JSON.stringify(body);
    for (const secret of [idKey, "PRIVATE KEY", "sk-embeddings", source, "=>", "postgres:"])
      expect(all).not.toContain(secret);
  });

  it("With nothing set, all settings are defaults", async () => {
    const { preset, groups } = createMemory({ database: db.pool }).settings();
    const changed = groups.flatMap(({ settings }) => settings.filter((each) => each.changed));
    expect(changed).toMatchObject([{ name: "database", value: "given" }]);
    expect(preset).toBe("ledger");
    expect(groups.map(({ name }) => name)).toEqual([
      ...["createMemory", "database", "context", "memories", "insights", "upkeep", "notes"],
      ...["lifecycle", "receipts", "consolidation", "retrieval", "consent", "jobs", "energy"],
      ...["store", "spans", "categories", "allowlists"],
    ]);
  });
});
