import { randomUUID } from "node:crypto";
import fc from "fast-check";
import sql from "sql-template-tag";
import { beforeAll, expect, it } from "vitest";
import type { MemoryKind } from "../../../src/memories/item/memory.js";
import type { Connection } from "../../../src/postgres/connection.js";
import { type RecallStatement, recallStatement } from "../../../src/rounds/recall-statement.js";
import {
  type KnownSelection,
  listImportant,
  listKnown,
  listNotes,
} from "../../../src/search/held/known-memories.js";
import { createKnownOrder, type KnownOrder, type KnownView } from "../../../src/search/held/known-order.js";
import { importantMemories } from "../../../src/search/important-memories.js";
import { noFilter } from "../../../src/search/memory-filter.rule.js";
import { wantedMemories } from "../../../src/search/memory-signals.js";
import { seenOwners } from "../../../src/search/question-terms.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const user = "ana";
const app = "a";
let ownerRefs: { user: number; app: number };

beforeAll(async () => {
  const memory = db.memory();
  await memory.memories.add({ text: "Ana plays chess." }, { scope: { userId: user } });
  await memory.memories.add({ text: "Users ask for chess." }, { scope: { appId: app } });
  const { rows } = await db.pool.query<{ id: number; is_user: boolean }>(
    `select id::float8 as id, user_id <> '' as is_user from "${db.schema}".owner`,
  );
  ownerRefs = { user: rows.find((row) => row.is_user)!.id, app: rows.find((row) => !row.is_user)!.id };
});

/** A time some microseconds before or after others. */
const at = (microseconds: number) => `2026-01-01T00:00:00.${500_000 + microseconds}Z`;
const moment = fc.integer({ min: -3, max: 3 });
const categories = ["profile", "knowledge", "event", "goals"];

const row = fc.record({
  owner: fc.constantFrom("user" as const, "user" as const, "app" as const),
  app: fc.constantFrom("", "", app, "another"),
  kind: fc.constantFrom<MemoryKind>("fact", "fact", "fact", "insight", "episode", "note", "procedure"),
  category: fc.constantFrom(...categories),
  hasKey: fc.boolean(),
  pinned: fc.constantFrom(true, false, false, false),
  importance: fc.constantFrom(1, 3, 3, 3.3, 5),
  state: fc.constantFrom("active", "active", "active", "active", "superseded"),
  updatedAt: moment,
  validFrom: fc.oneof({ weight: 3, arbitrary: fc.constant(-3) }, moment),
  expiresAt: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, moment),
});
type Row = typeof row extends fc.Arbitrary<infer Made> ? Made : never;

const few = (max: number) => fc.integer({ min: 0, max });
const asked = fc.record({
  appId: fc.constantFrom("", app, app),
  isUsers: fc.boolean(),
  categories: fc.shuffledSubarray(categories, { minLength: 1 }),
  lengths: fc.array(fc.constantFrom(null, null, 1, 2, 4), { minLength: 4, maxLength: 4 }),
  shownWhole: fc.subarray(categories),
  minImportance: fc.constantFrom(1, 3, 3.3, 3.30000001, 4, 6),
  most: few(6),
  rest: few(6),
  statements: few(4),
  notes: few(3),
  now: moment,
});
type Asked = typeof asked extends fc.Arbitrary<infer Made> ? Made : never;

async function insert(rows: readonly Row[]): Promise<void> {
  const table = `"${db.schema}".memory`;
  await db.pool.query(`delete from ${table}`);
  await db.pool.query(
    `insert into ${table} (id, owner_ref, tenant_id, user_id, app_id, kind, category, key, value, content, content_hash,
       importance, confidence, pinned, state, valid_from, updated_at, expires_at)
     select id, owner, '', '', app, kind, category, key, key, id::text, id::text, importance, 1, pinned, state,
       "validFrom", "updatedAt", "expiresAt"
     from json_to_recordset($1) as i (id uuid, owner bigint, app text, kind text, category text, key text, importance real,
       pinned boolean, state text, "validFrom" timestamptz, "updatedAt" timestamptz, "expiresAt" timestamptz)`,
    [JSON.stringify(rows.map((each, index) => stored(each, index)))],
  );
}

function stored(each: Row, index: number) {
  const { validFrom, updatedAt, expiresAt, hasKey, owner } = each;
  return {
    ...each,
    ...{ id: randomUUID(), owner: ownerRefs[owner], key: hasKey ? `key ${index}` : null },
    ...{ validFrom: at(validFrom), updatedAt: at(updatedAt) },
    expiresAt: expiresAt === null ? null : at(expiresAt),
  };
}

/** Turns what is stored at places `from` on into `rows`. */
async function change(rows: readonly Row[], from: number): Promise<void> {
  const changed = JSON.stringify(rows.map((each, index) => ({ ...stored(each, index), nth: from + index })));
  await db.pool.query(
    `update "${db.schema}".memory m set category = i.category, importance = i.importance, pinned = i.pinned,
       state = i.state, valid_from = i."validFrom", updated_at = i."updatedAt", expires_at = i."expiresAt"
     from json_to_recordset($1) as i (nth bigint, category text, importance real, pinned boolean, state text,
       "validFrom" timestamptz, "updatedAt" timestamptz, "expiresAt" timestamptz)
     join (select ref, row_number() over (order by ref) - 1 as nth from "${db.schema}".memory) n using (nth)
     where m.ref = n.ref`,
    [changed],
  );
}

type StoredView = KnownView & { readonly owner: number; readonly active: boolean };

async function views(): Promise<StoredView[]> {
  const time = (name: string) => `date_part('epoch', ${name}) * 1000`;
  const { rows } = await db.pool.query<StoredView>(
    `select ref::float8 as ref, owner_ref::float8 as owner, state = 'active' as active, app_id as "appId", kind, category,
       pinned, key is not null as "hasKey", importance, ${time("updated_at")} as "updatedAt",
       ${time("valid_from")} as "validFrom", ${time("expires_at")} as "expiresAt"
     from "${db.schema}".memory order by ref`,
  );
  return rows;
}

type Orders = Readonly<Record<"user" | "app", KnownOrder>>;

function apply(orders: Orders, rows: readonly StoredView[]): void {
  for (const { owner, active, ...view } of rows) {
    const order = owner === ownerRefs.user ? orders.user : orders.app;
    if (active) order.add(view);
    else order.remove(view.ref);
  }
}

/** What the statements list. */
async function listedInSql({ isUsers, appId, notes, ...known }: Asked) {
  const scope = { ...(isUsers && { userId: user }), ...((appId !== "" || !isUsers) && { appId: app }) };
  const connection: Connection = { ...db.database, now: () => sql`${at(known.now)}::timestamptz` };
  const statement: RecallStatement = {
    address: { scope, threadId: "a thread not seen before", messageIds: null },
    limits: { recentMessages: 1, recentBytes: 1, gapMessages: 1, gapBytes: 1 },
    asked: null,
    known: { ...known, lengths: known.lengths.slice(0, known.categories.length) },
    ...{ notes, changes: 1, consents: 0 },
  };
  const [found] = await connection.query<{
    known_count: number;
    known_cut: boolean;
    memories: { list: string; ref: number; signals: number }[];
  }>(recallStatement(connection, statement));
  const list = (name: string) =>
    found!.memories
      .filter((each) => each.list === name)
      .sort((a, b) => a.signals - b.signals)
      .map(({ ref }) => ref);
  const seen = seenOwners(connection, scope);
  const wanted = { scope, kinds: importantKinds(notes), categories: known.categories, filter: noFilter };
  const important = await connection.query<{ ref: number }>(sql`
    with ${seen.ctes}, ${wantedMemories(connection, wanted)},
    ${importantMemories(connection, seen.owners, { telling: "" }, known.most)}
    select ref from important order by signals::text::int`);
  return {
    profile: list("profile"),
    rest: list("rest"),
    knownCount: found!.known_count,
    knownCut: found!.known_cut,
    notes: list("note"),
    important: important.map(({ ref }) => ref),
  };
}

const importantKinds = (notes: number): MemoryKind[] =>
  notes % 2 === 0 ? ["fact", "insight", "episode", "procedure"] : ["insight", "note"];

/** The same as the process lists it. */
async function listedHere(orders: Orders, { isUsers, appId, notes, ...known }: Asked) {
  const { rows } = await db.pool.query<{ now: number }>(
    "select date_part('epoch', $1::timestamptz) * 1000 as now",
    [at(known.now)],
  );
  const now = rows[0]!.now;
  const withApp = appId !== "" || !isUsers;
  const owners = [...(isUsers ? [orders.user] : []), ...(withApp ? [orders.app] : [])];
  const selection: KnownSelection = { ...known, appId: withApp ? app : "", now };
  return {
    ...listKnown(owners, selection),
    notes: withApp ? listNotes(orders.app, { categories: known.categories, limit: notes, now }) : [],
    important: listImportant(owners, {
      ...{ appId: selection.appId, categories: known.categories, now },
      ...{ limit: known.most, kinds: importantKinds(notes) },
    }),
  };
}

it("what the process lists is what the recall statement lists, while memories come, change and go and time moves", {
  timeout: 600_000,
}, async () => {
  const cases = fc.record({
    rows: fc.array(row, { maxLength: 40 }),
    changed: fc.array(row, { maxLength: 10 }),
    from: few(30),
    asked: fc.array(asked, { minLength: 4, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ rows, changed, from, asked }) => {
      await insert(rows);
      const orders = { user: createKnownOrder(), app: createKnownOrder() };
      apply(orders, await views());
      for (const each of asked.slice(0, 2)) {
        expect(await listedHere(orders, each)).toEqual(await listedInSql(each));
      }
      await change(changed, from);
      apply(orders, (await views()).slice(from, from + changed.length));
      for (const each of asked.slice(2)) {
        expect(await listedHere(orders, each)).toEqual(await listedInSql(each));
      }
    }),
    { numRuns: onServer() ? 400 : 40 },
  );
});

const view = (ref: number, over: Partial<KnownView> = {}): KnownView => ({
  ...{ ref, appId: "", kind: "fact", category: "knowledge", pinned: false, hasKey: false, importance: 3 },
  ...{ updatedAt: ref, validFrom: 0, expiresAt: null, ...over },
});

/** As a recall asks by default. */
const byDefault: KnownSelection = {
  ...{ appId: "", categories, lengths: [null, null, 30, null], shownWhole: ["profile"], minImportance: 4 },
  ...{ most: 300, rest: 100, statements: 200, now: 1e6 },
};

it("an owner of thousands whose memories all expire at one moment is listed right before, at and after it", () => {
  const order = createKnownOrder();
  for (let ref = 1; ref <= 5000; ref++) {
    order.add(view(ref, { expiresAt: 2e6, hasKey: ref % 2 === 0, category: categories[ref % 4]! }));
  }
  order.add(view(6000));
  const count = (now: number) => listKnown([order], { ...byDefault, now }).knownCount;
  const before = count(1e6);
  expect(before).toBeGreaterThan(2500);
  expect(count(2e6 - 0.001)).toBe(before);
  expect(count(2e6)).toBe(1);
  expect(count(1e6)).toBe(before);
  expect(count(3e6)).toBe(1);
});

it("slots by the thousand leave the rest its room", () => {
  const order = createKnownOrder();
  for (let ref = 1; ref <= 20_000; ref++) order.add(view(ref, { hasKey: true, importance: 5 }));
  for (let ref = 20_001; ref <= 20_010; ref++) order.add(view(ref, { hasKey: true, importance: 1 }));
  for (let ref = 20_011; ref <= 20_020; ref++) order.add(view(ref, { importance: 2 }));
  const { profile, rest, knownCount, knownCut } = listKnown([order], byDefault);
  expect(profile).toEqual(Array.from({ length: 300 }, (_, index) => 20_000 - index));
  expect(rest).toEqual(Array.from({ length: 20 }, (_, index) => (index < 10 ? 20_020 : 20_020) - index));
  expect({ knownCount, knownCut }).toEqual({ knownCount: 20_020, knownCut: false });
});

it("what was removed is listed no more, once or twice, and what was never there is no matter", () => {
  const order = createKnownOrder();
  order.add(view(1, { expiresAt: 2e6 }));
  order.add(view(2));
  order.add(view(2, { pinned: true }));
  order.remove(1);
  order.remove(1);
  order.remove(7);
  expect(listKnown([order], byDefault)).toEqual({ profile: [2], rest: [], knownCount: 1, knownCut: false });
  expect(listKnown([order], { ...byDefault, now: 3e6 }).profile).toEqual([2]);
  order.remove(2);
  expect(listKnown([order], byDefault).knownCount).toBe(0);
  expect(order.bytes).toBe(0);
});
