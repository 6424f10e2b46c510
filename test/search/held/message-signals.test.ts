import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import sql, { type Sql } from "sql-template-tag";
import { expect, it } from "vitest";
import type { Scope } from "../../../src/scope/scope.js";
import { seenOwners as ownersOf } from "../../../src/scope/scope-predicates.js";
import { type HeldThread, heldThreadsJson } from "../../../src/search/held/held-message-row.js";
import { type HeldMessages, heldMessages } from "../../../src/search/held/held-messages.js";
import { scoredMessages } from "../../../src/search/held/learned-messages.rule.js";
import { loadMessages } from "../../../src/search/held/load-messages.js";
import { matchMessages } from "../../../src/search/held/message-matches.rule.js";
import { type AskedMessages, messageSignals } from "../../../src/search/held/message-signals.rule.js";
import { noFilter } from "../../../src/search/memory-filter.rule.js";
import { memoryHits } from "../../../src/search/memory-hits.js";
import { type HitSelection, visible } from "../../../src/search/memory-signals.js";
import { questionTerms, seenOwners } from "../../../src/search/question-terms.js";
import { readQuestion } from "../../../src/search/read-question.js";
import type { AskedTerm } from "../../../src/search/word-weights.rule.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** Few words, so that texts are equal and scores tie. */
const vocabulary = ["garden", "zeppelin", "Lisbon", "walk", "coffee", "lighthouse", "Ana", "the", "of"];
const apps = ["", "mail", "notes"] as const;
const categories = ["knowledge", "goals"] as const;

interface Said {
  readonly by: "user" | "assistant" | "tool";
  readonly speaker: string | undefined;
  readonly words: readonly string[];
}

interface Talk {
  readonly app: (typeof apps)[number];
  /** Of the app itself, and no user. */
  readonly ofApp: boolean;
  readonly said: readonly Said[];
}

interface Learned {
  readonly talk: number;
  readonly seqs: readonly number[];
  readonly category: (typeof categories)[number];
  readonly isNote: boolean;
}

interface Asked {
  readonly app: (typeof apps)[number];
  readonly words: readonly string[];
  readonly categories: readonly string[];
  /** Candidates. */
  readonly limit: number;
}

const said: fc.Arbitrary<Said> = fc.record({
  by: fc.constantFrom("user", "user", "user", "assistant", "assistant", "tool"),
  speaker: fc.constantFrom(undefined, undefined, "Ana", "Old Bob"),
  words: fc.array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 5, size: "max" }),
});
const talk: fc.Arbitrary<Talk> = fc.record({
  app: fc.constantFrom("", "mail", "mail", "notes"),
  ofApp: fc.constantFrom(true, false, false),
  said: fc.array(said, { minLength: 1, maxLength: 60, size: "max" }),
});
/** Numbers are taken as remainders; a memory may name a message that there is not. */
const learned: fc.Arbitrary<Learned> = fc.record({
  talk: fc.nat({ max: 99 }),
  seqs: fc.array(fc.nat({ max: 99 }), { minLength: 1, maxLength: 3, size: "max" }),
  // A category with few memories, so that filters leave too little of the best.
  category: fc.constantFrom(...Array.from({ length: 7 }, () => "knowledge" as const), "goals"),
  isNote: fc.constantFrom(false, false, false, true),
});
const asked: fc.Arbitrary<Asked> = fc.record({
  app: fc.constantFrom("", "", "mail", "mail", "notes"),
  words: fc.array(fc.constantFrom(...vocabulary, "gardn", "nothing", "Bob"), {
    minLength: 1,
    maxLength: 4,
    size: "max",
  }),
  categories: fc.constantFrom([...categories], ["goals"]),
  limit: fc.constantFrom(1, 1, 2, 4),
});
const owner = fc.record({
  talks: fc.array(talk, { minLength: 1, maxLength: 4, size: "max" }),
  facts: fc.oneof(
    fc.array(learned, { maxLength: 60, size: "max" }),
    fc.array(learned, { minLength: 1, maxLength: 6, size: "max" }),
  ),
  questions: fc.array(asked, { minLength: 6, maxLength: 6 }),
});

let owners = 0;

function messageOf({ by, speaker, words }: Said, id: string): BaseMessage {
  const fields = { id, content: words.join(" "), ...(speaker !== undefined && { name: speaker }) };
  if (by === "user") return new HumanMessage(fields);
  return by === "assistant" ? new AIMessage(fields) : new ToolMessage({ ...fields, tool_call_id: id });
}

/** Apps are shared by users: each owner has apps of its own. */
const appOf = (user: string, app: string) => (app === "" ? {} : { appId: `${app} of ${user}` });

async function fill(user: string, talks: readonly Talk[], facts: readonly Learned[]): Promise<void> {
  const memory = db.memory();
  const scopes = talks.map(({ app, ofApp }): Scope => {
    const ofUser = ofApp && app !== "" ? {} : { userId: user };
    return { ...ofUser, ...appOf(user, app) };
  });
  for (const [at, { said }] of talks.entries()) {
    const threadId = `${user} ${at}`;
    const messages = said.map((message, seq) => messageOf(message, `${threadId} ${seq}`));
    await memory.record({ scope: scopes[at] as Scope, threadId, messages });
  }
  for (const [at, scope] of scopes.entries()) {
    const all = (talks[at] as Talk).said.length + 2;
    const drafts = facts.flatMap(({ talk, seqs, category, isNote }, n) => {
      if (talk % talks.length !== at) return [];
      const kind = isNote && scope.appId ? ({ kind: "note" } as const) : { kind: "fact" as const, category };
      const text = `Fact${n} about thing${n} and matter${n}`;
      return [{ ...kind, text, source: { threadId: `${user} ${at}`, seqs: seqs.map((seq) => seq % all) } }];
    });
    if (drafts.length > 0) await memory.memories.add(drafts, { scope });
  }
}

/** What SQL says. */
interface Reference {
  readonly terms: readonly AskedTerm[];
  readonly owners: readonly { readonly id: number; readonly count: number; readonly length: number }[];
  readonly threads: number;
  readonly messages: readonly (readonly [thread: number, seq: number, score: number])[];
  readonly threadScores: readonly (readonly [thread: number, score: number])[];
  readonly sources: readonly (readonly [ref: number, score: number])[];
  readonly rest: readonly (readonly [ref: number, score: number])[];
  readonly matched: number;
  readonly scant: boolean;
  readonly visible: readonly number[];
  readonly active: readonly (readonly [ref: number, thread: number, seqs: readonly number[]])[];
}

async function reference(scope: Scope, { words, categories, limit }: Asked): Promise<Reference> {
  const { database } = db;
  const selection: HitSelection = {
    ...{ scope, kinds: ["fact", "note"], categories: [...categories, "app_notes"], filter: noFilter },
    ...{ vector: null, times: { since: [], before: [] }, limit },
  };
  const seen = seenOwners(database, scope);
  const terms = questionTerms(database, seen.owners, readQuestion(words.join(" "), "english", new Date()));
  const hits = memoryHits(database, { owners: seen.owners, terms: terms.terms }, selection);
  const listed = (row: Sql, from: Sql) => sql`(select coalesce(json_agg(${row}), '[]') from ${from})`;
  const ofOwners = sql`m.owner_ref in (select id from seen_owner)`;
  const [found] = await database.query<{ found: Reference }>(sql`
    with ${seen.ctes},${terms.ctes},${hits.ctes}
    select json_build_object(
      'terms', ${listed(sql`a`, sql`(select distinct n, term, lexeme, weight from asked_term order by n) a`)},
      'owners', ${listed(
        sql`json_build_object('id', id, 'count', message_count, 'length', message_length)`,
        sql`seen_owner`,
      )},
      'threads', (select threads from thread_total),
      'messages', ${listed(
        sql`json_build_array(thread_ref, seq, score)`,
        sql`(select * from message_score order by score desc, thread_ref, seq) s`,
      )},
      'threadScores', ${listed(sql`json_build_array(thread_ref, score)`, sql`thread_score`)},
      'sources', ${listed(sql`json_build_array(ref, value)`, sql`(select * from source_best order by ref) s`)},
      'rest', ${listed(sql`json_build_array(ref, value)`, sql`(select * from rest_source order by value desc, ref) s`)},
      'matched', (select count(*) from (select from message_word where nth = 1 limit ${8 * limit}) h),
      'scant', (select sources from scant),
      'visible', ${listed(sql`m.ref`, sql`${database.schema}.memory m cross join wanted w where ${ofOwners} and ${visible}`)},
      'active', ${listed(
        sql`json_build_array(ref, thread_ref, source_seqs)`,
        sql`(
          select * from ${database.schema}.memory m
          where ${ofOwners} and m.state = 'active' and m.source_seqs <> '{}' and m.thread_ref is not null order by ref
        ) m`,
      )}
    ) as found, (select count(*) from ${hits.found})`);
  return found?.found as Reference;
}

/** The messages of the scope's owners, each of whom has them loaded once. */
async function loaded(scope: Scope, held: Map<number, HeldMessages>): Promise<void> {
  const { database } = db;
  const found = await database.query<{ id: number; threads: HeldThread[] }>(sql`
    select o.id::float8 as id, ${heldThreadsJson(database, sql`o.id`)} as threads
    from (${ownersOf(database, scope, sql`o.id`)}) o`);
  for (const { id, threads } of found) {
    if (held.has(id)) continue;
    const messages = heldMessages();
    for await (const rows of loadMessages(database, threads)) messages.apply(rows);
    held.set(id, messages);
  }
}

function learnedIn(active: Reference["active"]): Map<number, Map<number, number[]>> {
  const learned = new Map<number, Map<number, number[]>>();
  for (const [ref, thread, seqs] of active) {
    const ofThread = learned.get(thread) ?? new Map<number, number[]>();
    learned.set(thread, ofThread);
    for (const seq of new Set(seqs)) ofThread.set(seq, [...(ofThread.get(seq) ?? []), ref]);
  }
  return learned;
}

const close = (pairs: Iterable<readonly [number, number]>) =>
  [...pairs].map(([ref, score]) => [ref, expect.closeTo(score, 6)]);
const byRef = (pairs: Iterable<readonly [number, number]>) =>
  [...pairs].toSorted(([first], [second]) => first - second);

async function compare(user: string, question: Asked, held: Map<number, HeldMessages>): Promise<void> {
  const scope = { userId: user, ...appOf(user, question.app) };
  await loaded(scope, held);
  const told = await reference(scope, question);
  const learned = learnedIn(told.active);
  const shown = new Set(told.visible);
  const selection = {
    ...{ appId: scope.appId ?? "", matches: 8 * question.limit, candidates: question.limit },
    learnedFrom: (thread: number, seq: number) => learned.get(thread)?.get(seq),
    isLearnedThread: (thread: number) => learned.has(thread),
    isVisible: (ref: number) => shown.has(ref),
  };
  const input: AskedMessages = {
    ...{ terms: told.terms, threads: told.threads },
    owners: told.owners.map(({ id, ...counted }) => ({ messages: held.get(id) as HeldMessages, ...counted })),
  };
  const found = messageSignals(input, selection);

  expect(byRef(found.threads)).toEqual(close(byRef(told.threadScores)));
  expect([...byRef(found.sources)]).toEqual(close(told.sources));
  // Memories that are not active count as learned from as well, and are never found.
  if (found.matched > 0) expect(found.matched).toBe(told.matched);
  if (told.scant) expect([...found.restSources()]).toEqual(close(told.rest));
  const matches = matchMessages(input.terms, input.owners, selection.appId);
  const scored = scoredMessages(matches, selection.learnedFrom, selection.matches);
  const active = told.messages.filter(([thread, seq]) => learned.get(thread)?.has(seq));
  expect(scored.map(({ thread, seq, score }) => [thread, seq, score])).toEqual(
    active.map(([thread, seq, score]) => [thread, seq, expect.closeTo(score, 6)]),
  );
}

it("held messages say the same of memories as SQL", async () => {
  await fc.assert(
    fc.asyncProperty(owner, async ({ talks, facts, questions }) => {
      const user = `user ${owners++}`;
      await fill(user, talks, facts);
      const held = new Map<number, HeldMessages>();
      for (const question of questions) await compare(user, question, held);
    }),
    { numRuns: onServer() ? 60 : 15 },
  );
}, 600_000);
