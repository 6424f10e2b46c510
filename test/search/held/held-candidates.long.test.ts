import { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryKinds } from "../../../src/memories/item/memory.js";
import { halfvec } from "../../../src/models/embedding-space.js";
import type { Scope } from "../../../src/scope/scope.js";
import { type HeldMemories, heldMemories } from "../../../src/search/held/held-memories.js";
import type { HeldMemoryRow } from "../../../src/search/held/held-memory-row.js";
import { loadMemories } from "../../../src/search/held/load-memories.js";
import { noFilter } from "../../../src/search/memory-filter.rule.js";
import { searchMemories } from "../../../src/search/memory-hits.js";
import { type EmbeddedQuestion, readQuestion } from "../../../src/search/read-question.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { limitsMs } from "../../support/timing.js";
import { type Asked, candidatesOfHeld } from "./as-the-statement.js";
import { exactVector, useHeldOwners, type WrittenMemory } from "./held-fixture.js";
import { plainVectors } from "./plain-vectors.js";

const db = useTestDatabase();
const owners = useHeldOwners(db);

const vocabulary = ["tea", "lamp", "boat", "river", "chess", "piano", "garden", "zebra", "wolf", "ana"];
const categories = ["knowledge", "tasks", "projects"];
const times = [
  "2022-05-25T10:00:00Z",
  "2022-05-25T23:59:59.999999Z",
  "2024-01-01T00:00:00Z",
  "2190-01-01T00:00:00Z",
];
const expiries = ["2020-01-01T00:00:00Z", "2190-01-01T00:00:00Z"];

const words = (most: number) =>
  fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant("tea") }, fc.constantFrom(...vocabulary)), {
    minLength: 1,
    maxLength: most,
  });
/** Of more words than are asked for at most, some of which many memories have. */
const manyWords = Array.from(
  { length: 90 },
  (_, place) => `${"abc"[place % 3]}${"lmn"[(place % 7) % 3]}word${place}`,
);
const longText = fc
  .tuple(fc.nat(60), fc.nat(90))
  .map(([from, count]) => manyWords.slice(from, from + count + 1));
const written: fc.Arbitrary<WrittenMemory> = fc.record({
  text: fc.oneof({ weight: 12, arbitrary: words(5) }, longText).map((each) => each.join(" ")),
  kind: fc.oneof({ weight: 3, arbitrary: fc.constant("fact" as const) }, fc.constantFrom(...memoryKinds)),
  category: fc.constantFrom(...categories),
  appId: fc.constantFrom("", "", "mail", "notes"),
  actor: fc.constantFrom("ana", "ben", undefined, undefined) as fc.Arbitrary<string>,
  importance: fc.constantFrom(1, 2.2, 3.3, 5),
  pinned: fc.boolean(),
  state: fc.constantFrom("active", "active", "active", "superseded"),
  validFrom: fc.constantFrom(...times),
  expiresAt: fc.constantFrom(null, null, null, ...expiries),
  source: fc.option(
    fc.record({
      threadId: fc.constantFrom("0", "1"),
      seqs: fc.uniqueArray(fc.nat(7), { minLength: 1, maxLength: 3 }).map((seqs) => seqs.sort()),
    }),
  ),
});
const memories = fc.oneof(
  { weight: 1, arbitrary: fc.array(written, { maxLength: 3 }) },
  { weight: 5, arbitrary: fc.array(written, { maxLength: 60, size: "max" }) },
  { weight: 1, arbitrary: fc.array(written, { minLength: 220, maxLength: 260, size: "max" }) },
);
const links = fc.array(fc.tuple(fc.nat(15), fc.nat(15), fc.constantFrom(0.3, 0.5, 0.7)), {
  maxLength: 60,
  size: "max",
});
const said = fc.array(words(4), { maxLength: 8 });

const unknown = ["teaa", "rivr", "gardn", "pianos", "wolff", "nebula", "quark", "bookcases"];
const question = fc.record({
  words: fc.oneof(
    { weight: 4, arbitrary: words(4) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom(...unknown, ...vocabulary), { minLength: 1, maxLength: 4 }),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(words(9), fc.integer({ min: 0, max: 80 })).map(([asked, count]) => [
        ...asked,
        ...manyWords,
        // Words that none has, before and after those that some have.
        ...Array.from({ length: count }, (_, place) => `${place % 2 ? "aaa" : "zzz"}word${place}`),
      ]),
    },
  ),
  dated: fc.constantFrom("", "", " on 25 May 2022", " in 2022"),
  vector: fc.option(fc.nat(40)),
  unrelated: fc.constantFrom(null, { mean: 0.25, spread: 0.1 }),
  limit: fc.constantFrom(1, 2, 3, 5, 30),
  kinds: fc.constantFrom([...memoryKinds], ["fact", "episode", "insight"], ["procedure"]),
  categories: fc.constantFrom(categories, ["tasks"], ["knowledge", "unheard of"]),
  whose: fc.constantFrom("user", "user", "app", "both"),
});
type AskedQuestion = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

let runs = 0;

/** An owner's memories held, kept as rows that change would keep them. */
async function hold(owner: number): Promise<{ held: HeldMemories; rows: Map<number, HeldMemoryRow> }> {
  const held = heldMemories(plainVectors());
  for await (const rows of loadMemories(db.database, { owner, space: owners.space, page: 7 }))
    held.apply(rows);
  const rows = await owners.rows(owner);
  return { held, rows: new Map(rows.map((row) => [row.ref, row])) };
}

/** Takes in the rows that were written since: where only a link to another's row is new, that one's was not. */
async function takeChanges(owner: number, { held, rows }: Awaited<ReturnType<typeof hold>>) {
  const textOf = (row: HeldMemoryRow | undefined) => JSON.stringify({ ...row, links: [] });
  const changed = (await owners.rows(owner)).filter((row) => textOf(row) !== textOf(rows.get(row.ref)));
  for (const row of changed) rows.set(row.ref, row);
  held.apply(changed);
}

function embedded({ words, dated, vector, unrelated }: AskedQuestion): EmbeddedQuestion {
  return {
    ...readQuestion(`${words.join(" ")}${dated}`, "english", new Date()),
    vector:
      vector === null ? null : { space: { ...owners.space, unrelated }, value: halfvec(exactVector(vector)) },
  };
}

async function expectSame(
  held: ReadonlyMap<number, HeldMemories>,
  scopes: Readonly<Record<string, Scope>>,
  asks: readonly AskedQuestion[],
) {
  for (const each of asks) {
    const { limit, kinds, categories: searched, whose } = each;
    const scope = scopes[whose] as Scope;
    const asked: Asked = {
      scope,
      kinds: kinds as Asked["kinds"],
      categories: searched,
      filter: noFilter,
      limit,
    };
    const { candidates } = await searchMemories(db.database, embedded(each), { ...asked, most: 1 });
    const found = await candidatesOfHeld(db.database, held, embedded(each), asked);
    expect(found.map(comparable), JSON.stringify(each)).toEqual(candidates.map(comparable));
  }
}

/** -0 is 0 in JSON. */
function comparable<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}

describe("memories that are held", () => {
  it(
    "are found as the statement finds them, and after changes as well",
    async () => {
      const changes = fc.array(
        fc.tuple(fc.nat(60), fc.constantFrom("remove", "restore", "update", "pin", "add", "expire")),
        { maxLength: 8 },
      );
      await fc.assert(
        fc.asyncProperty(
          ...([
            memories,
            links,
            memories,
            said,
            fc.array(question, { minLength: 3, maxLength: 5 }),
            changes,
          ] as const),
          async (ofUser, linked, ofApp, messages, asks, changed) => {
            const run = `run ${runs++}`;
            const scopes = {
              user: { userId: run },
              app: { appId: run },
              both: { userId: run, appId: run },
            };
            await record(scopes.user, run, messages);
            const inRun = ({ source, appId, ...memory }: WrittenMemory): WrittenMemory => ({
              ...memory,
              appId: appId === "mail" ? run : (appId ?? ""),
              source: source && { ...source, threadId: `${run} ${source.threadId}` },
            });
            const user = await owners.write(scopes.user, ofUser.map(inRun));
            const app = await owners.write(
              scopes.app,
              ofApp.map((each) => ({ ...inRun(each), source: null })),
            );
            await owners.link(user, linked);
            const copies = new Map([
              [user, await hold(user)],
              [app, await hold(app)],
            ]);
            const held = new Map([...copies].map(([owner, copy]) => [owner, copy.held]));
            await expectSame(held, scopes, asks);
            await change(scopes.user, user, changed);
            for (const [owner, copy] of copies) await takeChanges(owner, copy);
            await expectSame(held, scopes, asks);
          },
        ),
        { numRuns: onServer() ? 60 : 25 },
      );
    },
    limitsMs.long,
  );
});

async function record(scope: Scope, run: string, messages: readonly (readonly string[])[]) {
  for (const [place, text] of messages.entries()) {
    await owners.memory.record({
      ...{ scope, threadId: `${run} ${place % 2}` },
      messages: [new HumanMessage({ id: `${run} ${place}`, content: text.join(" ") })],
    });
  }
}

/** Changes of the user's memories, by the ways that users have. What is refused changes nothing. */
async function change(scope: Scope, owner: number, changes: readonly (readonly [number, string])[]) {
  for (const [place, what] of changes) {
    const rows = (await owners.rows(owner)).filter(({ memory }) => memory !== null);
    const id = rows.length > 0 ? JSON.parse(rows[place % rows.length]?.memory ?? "")[0] : undefined;
    const access = { scope };
    const { memories } = owners.memory;
    const text = `${vocabulary[place % vocabulary.length]} lamp ${place}`;
    const doing = {
      add: () => memories.add({ text }, access),
      remove: () => memories.remove(id, access),
      restore: async () => {
        const [removed] = await memories.list({ scope, states: ["soft_deleted"] });
        if (removed) await memories.restore(removed.id, access);
      },
      update: () => memories.update(id, { text }, access),
      pin: () => memories.update(id, { pinned: true, importance: 4.4 }, access),
      expire: () => memories.update(id, { expiresAt: new Date("2190-01-01") }, access),
    }[what];
    if (id !== undefined || what === "add") await doing?.().catch(() => undefined);
  }
}
