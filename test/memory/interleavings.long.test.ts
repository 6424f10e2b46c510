import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { Memory, MemoryItem, Scope } from "../../src/index.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { rejection } from "../support/rejection.js";
import { useTestDatabase } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

vi.setConfig({ testTimeout: limitsMs.long });
const db = useTestDatabase();

const statements = [
  "The user keeps bees on the roof.",
  "The kitchen was painted green last spring.",
  "Every Monday a train to Ghent leaves at six.",
];
const drinks = ["tea", "coffee"];
const cities = ["Rome", "Oslo"];

/** The commands of one user; several users take turns in any order. */
const commands = {
  state: fc.nat(statements.length - 1),
  drink: fc.nat(drinks.length - 1),
  city: fc.nat(cities.length - 1),
  approve: fc.nat(1),
  refuse: fc.nat(1),
  remove: fc.nat(1),
  restore: fc.nat(2),
  forget: fc.constant(0),
};
type Name = keyof typeof commands;

const turn = fc.record({
  // Mostly one user, so that commands have something to act on.
  user: fc.constantFrom(0, 0, 0, 0, 1, 2),
  command: fc.oneof(
    ...Object.entries(commands).map(([name, which]) => ({
      weight: name === "forget" ? 1 : 4,
      arbitrary: fc.tuple(fc.constant(name as Name), which),
    })),
  ),
});

interface ModelMemory {
  readonly id: string;
  readonly key: string | null;
  readonly text: string;
  state: MemoryItem["state"];
}
interface ModelRequest {
  readonly id: string;
  readonly value: string;
  status: "pending" | "approved" | "refused" | "superseded";
}

/** The expected rows of one user, as plain lists. */
interface ModelUser {
  readonly scope: Scope;
  memories: ModelMemory[];
  requests: ModelRequest[];
}

const active = ({ memories }: ModelUser, key: string) =>
  memories.find((memory) => memory.key === key && memory.state === "active");
const saying = ({ memories }: ModelUser, text: string) =>
  memories.find((memory) => memory.text === text && memory.state === "active");
const pending = ({ requests }: ModelUser) => requests.find(({ status }) => status === "pending");

function write(user: ModelUser, id: string, text: string, key: string | null): void {
  const previous = key === null ? undefined : active(user, key);
  if (previous) previous.state = "superseded";
  user.memories.push({ id, key, text, state: "active" });
}

const codeOf = async (work: Promise<unknown>) => (await rejection(work))?.code ?? "ok";

type Play = (memory: Memory, user: ModelUser, which: number) => Promise<void>;

const decide =
  (decision: "approve" | "refuse"): Play =>
  async (memory, user, nth) => {
    const request = user.requests.at(-1 - nth);
    if (!request) return;
    const { scope } = user;
    const result = memory.consents.decide({ scope, id: request.id, decision, actor: "user" });
    if (request.status !== "pending") {
      expect(await codeOf(result)).toBe("WRONG_STATE");
      return;
    }
    const decided = await result;
    request.status = decision === "approve" ? "approved" : "refused";
    expect(decided.status).toBe(request.status);
    const text = `The user lives in ${request.value}.`;
    if (decision === "approve" && active(user, "city")?.text !== text)
      write(user, decided.memoryId as string, text, "city");
  };

const plays: Record<Name, Play> = {
  async state(memory, user, which) {
    const text = statements[which] as string;
    const existing = saying(user, text);
    const [written] = await memory.memories.add({ scope: user.scope, memories: { text } });
    const expected = existing ? ["merged", existing.id] : ["created", expect.any(String)];
    expect([written?.outcome, written?.id]).toEqual(expected);
    if (!existing) write(user, written?.id as string, text, null);
  },

  async drink(memory, user, which) {
    const value = drinks[which] as string;
    const text = `The user drinks ${value}.`;
    const previous = active(user, "drink");
    const draft = { text, category: "preferences", key: "drink", value };
    const [written] = await memory.memories.add({ scope: user.scope, memories: draft });
    const changed = previous ? "replaced" : "created";
    expect(written?.outcome).toBe(previous?.text === text ? "merged" : changed);
    if (previous?.text !== text) write(user, written?.id as string, text, "drink");
  },

  async city(memory, user, which) {
    const value = cities[which] as string;
    const text = `The user lives in ${value}.`;
    const known = active(user, "city")?.text === text;
    const refused = user.requests.some(
      (request) => request.value === value && request.status === "refused",
    );
    const [written] = await memory.memories.add({
      scope: user.scope,
      memories: { text, category: "profile", key: "city", value },
    });
    const asked = refused ? "refused" : "proposed";
    expect(written?.outcome).toBe(known ? "merged" : asked);
    const waiting = pending(user);
    // The existing value was repeated: a pending request for another is out of date.
    if (known && waiting) waiting.status = "superseded";
    if (known || refused) return;
    if (waiting?.value === value) {
      expect(written?.consentId).toBe(waiting.id);
      return;
    }
    if (waiting) waiting.status = "superseded";
    user.requests.push({ id: written?.consentId as string, value, status: "pending" });
  },

  approve: decide("approve"),
  refuse: decide("refuse"),

  async remove(memory, user, nth) {
    const item = user.memories.at(-1 - nth);
    if (!item) return;
    const code = await codeOf(memory.memories.remove({ scope: user.scope, id: item.id }));
    expect(code).toBe(item.state === "active" ? "ok" : "WRONG_STATE");
    if (code === "ok") item.state = "soft_deleted";
  },

  async restore(memory, user, nth) {
    const item = user.memories.at(-1 - nth);
    if (!item) return;
    const code = await codeOf(
      memory.memories.restore({ scope: user.scope, consent: "given", id: item.id }),
    );
    const isTaken = (item.key !== null && active(user, item.key)) || saying(user, item.text);
    expect(code).toBe(item.state !== "soft_deleted" ? "WRONG_STATE" : isTaken ? "CONFLICT" : "ok");
    if (code === "ok") item.state = "active";
  },

  async forget(memory, user) {
    await memory.forget({ scope: user.scope });
    user.memories = [];
    user.requests = [];
  },
};

async function expectTables(memory: Memory, user: ModelUser): Promise<void> {
  const { scope } = user;
  const states = ["active", "superseded", "merged", "soft_deleted"] as const;
  const listed = await memory.memories.list({ scope, states });
  const plain = (items: readonly { id: string; text: string; state: string }[]) =>
    items.map(({ id, text, state }) => `${id} ${state} ${text}`).sort();
  expect(plain(listed)).toEqual(plain(user.memories));
  expect((await memory.consents.list({ scope })).map(({ id }) => id)).toEqual(
    pending(user) ? [pending(user)?.id] : [],
  );
}

/** A search for words of every text finds the active memories and no others. */
async function expectSearch(memory: Memory, user: ModelUser): Promise<void> {
  const query = "bees kitchen train user drinks lives";
  const found = await memory.query({ scope: user.scope, query, topK: 20, threshold: 0 });
  expect(found.map((hit) => hit.memory.id).sort()).toEqual(
    user.memories.flatMap(({ id, state }) => (state === "active" ? [id] : [])).sort(),
  );
}

describe("interleavings of writing, consent, removal, restoring and forgetting", () => {
  it("1,000 interleavings of commands lead to the same memories as a plain list", async () => {
    const memory = db.memory();
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 5, maxLength: 14 }),
        fc.nat(2),
        async (turns, asks) => {
          const name = `ana%_'"${randomUUID()}`;
          const users: ModelUser[] = [
            { tenantId: "a:b", userId: name },
            { tenantId: "a", userId: name },
            { tenantId: "a", userId: `${name}1` },
          ].map((scope) => ({ scope, memories: [], requests: [] }));
          for (const { user, command } of turns) {
            const [play, which] = command;
            await plays[play](memory, users[user] as ModelUser, which);
          }
          for (const user of users) await expectTables(memory, user);
          // For one of the three users, since a search is slow; the index is checked below.
          await expectSearch(memory, users[asks] as ModelUser);
        },
      ),
      { numRuns: 1_000 },
    );
    expect(await brokenInvariants(db)).toEqual([]);
  });
});
