import { describe, expect, it } from "vitest";
import { shippedSchema } from "../../src/postgres/migration-set.js";
import { notRunOnCitus, statementForm } from "./citus-statements.js";
import { brokenRules, normalStatement } from "./statement-rules.js";

const broken = (text: string) => brokenRules(normalStatement(text));

describe("the rules for statements on Citus", () => {
  it("No function takes a table's row", () => {
    const { migrations, functions } = shippedSchema();
    const texts = [
      ...migrations.flatMap((each) => each.statementsFor("s")),
      ...functions.statementsFor("s", "v"),
    ];
    const tables = texts.flatMap((text) => /create table "s"\.(\w+)/.exec(text)?.[1] ?? []);
    const taken = texts.flatMap(
      (text) => /create (?:or replace )?function [^(]+\(([^)]*)\)/.exec(text)?.[1] ?? [],
    );
    expect(tables).toContain("memory");
    expect(
      taken.filter((all) => new RegExp(`"s"\\.(?:${tables.join("|")})\\s*(?:,|$)`).test(all)),
    ).toEqual([]);
  });

  it.each([
    ["one-statement", `set local jit to off; select 1`],
    ["no-set-config", `select set_config('mnemograph.tenant_id', $1, true)`],
    [
      "no-transaction-id",
      `update "s".owner o set tick = o.tick + 1, ticked_by = pg_current_xact_id()`,
    ],
    [
      "do-update-is-plain",
      `insert into "s".t (id) values ($1) on conflict (id) do update set at = now() returning id`,
    ],
    [
      "do-update-is-plain",
      `with a as (insert into "s".t as k (id) select 1 on conflict (id) do update
         set at = greatest(excluded.at, k.at + $1::float8 * interval '1 millisecond')) select 1`,
    ],
    [
      "do-update-is-plain",
      `insert into "s".t (id) select 1 on conflict (id) do update set n = (select count(*) from input)`,
    ],
    ["returning-is-plain", `update "s".t set a = 1 returning id, now() as now`],
    ["no-time-in-case", `update "s".t set at = case when a then b else now() end where id = $1`],
    [
      "no-time-in-case",
      `with a as (update "s".t set at = coalesce(at, now()) returning id) select id from a`,
    ],
    [
      "no-interval-with-column",
      `update "s".t i set at = now() + i.ttl_minutes * interval '1 minute'`,
    ],
    ["no-interval-with-column", `delete from "s".t where seen_at + $1 * interval '1 day' < now()`],
    ["no-subquery-in-values", `insert into "s".t (a) values ((select max(a) from "s".u))`],
    [
      "no-insert-above-writes",
      `with a as (update "s".t set a = 1) insert into "s".u (a) select a from json_to_recordset($1)`,
    ],
    [
      "no-volatile-in-write",
      `update "s".thread set checkpoint_name = gen_random_uuid()::text where id = 1`,
    ],
    ["no-volatile-in-write", `delete from "s".thread where thread_id = gen_random_uuid()::text`],
    [
      "no-volatile-in-write",
      `update "s".thread t set checkpoint_name = case
         when exists (select id from "s".threads_elsewhere(array[t.thread_id], t.tenant_id)) then 'a' else 'b' end`,
    ],
    [
      "no-parameter-as-condition",
      `with a as (update "s".work k set retry_at = $1 from g where k.id = g.id and $2::boolean returning k.id)
       update "s".thread t set ended_at = $1 from g where t.id = g.id`,
    ],
    ["no-row-argument", `select m.id from "s".memory m where "s".is_pinned(m)`],
    [
      "no-subquery-inserted",
      `insert into "s".shown (checks) select array(select m.trust from "s".memory m)`,
    ],
    [
      "no-lock-beside-function",
      `with h as materialized (
         select t.id from json_to_recordset($1) p (a bigint) join "s".thread t on t.id = p.a for share of t
       ), x as (insert into "s".checkpoints (thread_id) select h.id::text from h) select 1`,
    ],
    [
      "no-function-without-columns",
      `with a as materialized (select from "s".threads_elsewhere($1, $2))
       update "s".thread set checkpoint_name = case when exists (select from a) then $3 end`,
    ],
    [
      "no-outer-lateral",
      `with a as (insert into "s".t (id) select i.id from input i
         left join lateral (select id from "s".u where u.id = i.id limit 1) u on true) select 1`,
    ],
    [
      "reads-what-it-inserts: t",
      `with a as (insert into "s".t (id) select 1) select count(*) from "s".t`,
    ],
    [
      "reads-what-it-inserts: t",
      `with b as (select id from "s".t), a as (insert into "s".t (id) select 1) select id from b`,
    ],
  ])("The rule %s reports: %s", (rule, text) => {
    expect(broken(text)).toEqual([rule]);
  });

  it.each([
    `select case when expires_at <= now() then 'expired' else status end from "s".t where at + $1 * interval '1 day' > now()`,
    `insert into "s".t (id, at) values ($1, now()) on conflict (id) do update
       set at = case when t.at <= excluded.at then excluded.at else t.at end returning id`,
    `insert into "s".t as k (id, at) select id, now() + i.ttl * interval '1 minute' from input i on conflict (id)
       do update set at = case when k.at - excluded.at > $1 * interval '1 second' then k.at else excluded.at end`,
    `update "s".t i set at = f.at from (select id, now() + ttl * interval '1 minute' as at from found) f where i.id = f.id`,
    `update "s".t set at = now() + $1 * interval '1 minute', ended_at = least(ended_at, now()) where seen_at <= now()`,
    `with a as (update "s".t set a = 1), b as (insert into "s".u (a) select 1) select 1 as done`,
    `with b as materialized (select id from "s".t), a as (insert into "s".t (id) select 1) select id from b`,
    `with b as materialized (select max(seq) as last_seq from "s".t), a as (insert into "s".t (seq) select 1)
       select (select count(*) from "s".t m where m.seq <= b.last_seq) from b`,
    `with a as materialized (select id from "s".threads_elsewhere($1, $2))
       update "s".thread set checkpoint_name = case when exists (select from a) then $3 end`,
    `with h as materialized (select from "s".thread where id = $1 for share), x as (delete from "s".work) select exists (select from h)`,
    `select to_jsonb(m) from "s".memory m`,
    `select regexp_split_to_table($1, '\\s+;') word; `,
    `set local mnemograph.tenant_id to 't:a''; drop table t; --'`,
  ])("No rule for Citus reports: %s", (text) => {
    expect(broken(text)).toEqual([]);
  });
});

describe("the list of statements that ran on Citus", () => {
  const known = `with a as materialized (select id, seq from "s".t where id = $1 for update)
    update "s".u set seq = a.seq from a where u.id = a.id returning u.id`;
  const form = (text: string) => statementForm(normalStatement(text));

  it("A form that never ran on Citus is reported with the command that adds it", () => {
    const [problem] = notRunOnCitus([normalStatement(known)], "");
    expect(problem).toContain("CITUS_SOURCE=DIR npm run test:citus -- FILE");
    expect(problem).toContain("update @s.u set");
    expect(notRunOnCitus([`select id from @s.t`], "")).toEqual([]);
  });

  it.each([
    ["columns", "u.id", "u.id, u.at"],
    ["values", "id = $1", "id = $1 and at > '2030-01-01' and n = any ($2)"],
  ])("A form stays the same with other %s", (_, part, other) => {
    expect(form(known.replace(part, other))).toBe(form(known));
  });

  it.each([
    ["a function", "set seq = a.seq", 'set seq = "s".next(a.seq)'],
    ["a lock", "for update", "for share"],
    ["a subquery", "where u.id = a.id", 'where u.id in (select id from "s".w)'],
    ["a part that is not materialized", "materialized ", ""],
  ])("A form differs by %s", (_, part, other) => {
    expect(form(known.replace(part, other))).not.toBe(form(known));
  });
});
