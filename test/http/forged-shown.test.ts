import { beforeAll, describe, expect, it } from "vitest";
import type { Scope } from "../../src/scope/scope.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

// `POST /remember` takes from its caller what the turn was shown, by ids that anybody can guess.

const db = useTestDatabase();
const mine = { tenantId: "globex", userId: "mallory", appId: "mail" };
const others: readonly (readonly [string, Scope])[] = [
  ["another tenant", { ...mine, tenantId: "acme" }],
  ["another user", { ...mine, userId: "ana" }],
  ["another app of the user", { ...mine, appId: "diary" }],
];
const secretOf = (what: string, of: string) => `${what} of ${of}: sapphire`;

let api: ReturnType<typeof clients>;
function clients() {
  const custom = [{ name: "local", level: "app" as const }];
  const memory = db.memory({ config: { preset: "ledger", categories: { custom } } });
  return { memory, ...httpClients(memory, { mallory: { role: "user", scope: mine } }) };
}
beforeAll(() => {
  api = clients();
});

/** A completed summary of a thread's messages up to `endSeq`, and the numbers of both. */
async function addSummary(threadId: string, endSeq: number, text: string) {
  const { rows } = await db.pool.query<{ summary: number; thread: number }>(
    `insert into "${db.schema}".summary (thread_ref, start_seq, end_seq, start_turn, end_turn, status, content)
     select id, 0, $2, 1, 1, 'completed', $3 from "${db.schema}".thread where thread_id = $1
     returning id::int as summary, thread_ref::int as thread`,
    [threadId, endSeq, text],
  );
  return rows[0] as (typeof rows)[0];
}

/** What another has, and how a turn's `shown` would name it. */
async function secretsOf(of: string, scope: Scope) {
  const threadId = `thread of ${of}`;
  const content = secretOf("message", of);
  await api.memory.record({ scope, threadId, messages: [{ id: of, role: "user", content }] });
  const text = secretOf("memory", of);
  const [added] = await api.memory.memories.add({
    scope,
    memories: { text, category: "local" },
  });
  const { summary, thread } = await addSummary(threadId, 0, secretOf("summary", of));
  const { rows } = await db.pool.query<{ rev: number }>(
    `select rev::int as rev from "${db.schema}".change_log where memory_id = $1::uuid`,
    [added?.id],
  );
  const rev = rows[0]?.rev;
  return {
    summary: { summaryId: summary },
    memory: { parts: { profile: [added?.id] } },
    change: { news: { since: 0, count: 1, changes: [[rev, "created", null]] } },
    message: { news: { unread: [[thread, 0]] } },
  };
}

describe.each(others)("what a turn's caller says it was shown of %s", (of, scope) => {
  it("A turn reveals nothing of what it names that the caller may not see", async () => {
    const secrets = await secretsOf(of, scope);
    for (const [what, named] of Object.entries(secrets)) {
      const threadId = `${what} of ${of}, asked by mallory`;
      const ask = () => api.mallory("POST", "/recall", { threadId, query: "sapphire" });
      const { shown } = (await ask()).body;
      const messages = [{ id: `${what} ${of}`, role: "user", content: "Hello." }];
      const forged = { ...shown, firstSeq: 0, ...named };
      const told = await api.mallory("POST", "/remember", { threadId, messages, shown: forged });
      expect(told.status, what).toBe(200);
      const answers = [
        await ask(),
        await api.mallory("POST", `/threads/${encodeURIComponent(threadId)}/replay`, { turn: 1 }),
        await api.mallory("GET", `/threads/${encodeURIComponent(threadId)}/shown`),
        await api.mallory("GET", "/export"),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      for (const { body } of answers) expect(JSON.stringify(body), what).not.toContain("sapphire");
    }
  });
});

it("A turn's caller who says that it was shown a long conversation whole is not shown it again", async () => {
  const threadId = "a conversation with a summary";
  const all = Array.from({ length: 300 }, (_, at) => {
    return { id: `of ${at}`, role: at % 2 === 0 ? "user" : "assistant", content: `Word ${at}.` };
  });
  await api.mallory("POST", "/record", { threadId, messages: all });
  const { summary: summaryId } = await addSummary(threadId, all.length - 1, "They talked.");
  const ask = async () => (await api.mallory("POST", "/recall", { threadId })).body;
  const { shown, recent } = await ask();
  const messages = [{ id: "next", role: "user", content: "Hello." }];
  const forged = { ...shown, firstSeq: 0, summaryId };
  await api.mallory("POST", "/remember", { threadId, messages, shown: forged });
  const again = await ask();
  expect(again.epoch.isNew).toBe(false);
  expect(again.recent.length).toBeLessThan(recent.length + 60);
});

it("A turn's caller may not say that it was shown more than a replay can make rows of", async () => {
  const threadId = "a long conversation";
  const messages = [{ id: "long", role: "user", content: "Hello." }];
  const { shown } = (await api.mallory("POST", "/recall", { threadId })).body;
  const handed = { injectAs: "message", timeZone: "UTC", check: 0, talk: [[0, 2_147_483_647]] };
  const ofChanges = { changes: Array.from({ length: 5_000 }, () => [1, "created", null]) };
  for (const forged of [{ handed }, { news: ofChanges }]) {
    const body = { threadId, messages, shown: { ...shown, ...forged } };
    const answer = await api.mallory("POST", "/remember", body);
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  }
});
