import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { migrationFiles } from "../../src/postgres/migration-files.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const schema = `before_${randomUUID().slice(0, 8)}`;

afterAll(() => db.pool.query(`drop schema if exists "${schema}" cascade`));

describe("the migration to one table of work", () => {
  it("takes along what is due, what workers are at, and what was given up", async () => {
    const client = await db.pool.connect();
    const files = migrationFiles("");
    const last = files.findIndex(({ name }) => name === "0040_work");
    try {
      await client.query(`create schema "${schema}"`);
      await client.query(`set search_path = "${schema}"`);
      for (const { statements } of files.slice(0, last)) await client.query(statements);
      await client.query(`
        insert into owner (tenant_id, user_id, app_id, revision, tick) values ('', 'ana', '', 7, 9);
        insert into thread (tenant_id, thread_id, user_id, app_id, owner_ref) values ('', 't', 'ana', '', 1);
        insert into message (thread_ref, seq, message_id, role, content, serialised)
          select 1, n, n, case n % 2 when 0 then 'user' else 'assistant' end, n, '{}' from generate_series(0, 9) n;
        insert into summary (thread_ref, start_seq, end_seq, status, content) values (1, 0, 5, 'completed', 'Long ago.');
        insert into summary (thread_ref, start_seq, end_seq, base_id, status, attempts, lease_until)
          values (1, 0, 7, 1, 'processing', 2, '2030-01-01Z');
        insert into thread_task (thread_ref, task, done_until, attempts, lease_until) values (1, 'extract', 3, 1, '2030-01-01Z');
        insert into thread_task (thread_ref, task, done_until, attempts, retry_at, error) values (1, 'note', -1, 2, '2030-01-02Z', 'no');
        insert into owner_task (owner_ref, task, done_until, done_at) values (1, 'insights', 9, '2029-01-01Z'), (1, 'consolidate', 8, null);
        insert into dead_letter (thread_ref, task, start_seq, end_seq, output, error) values (1, 'compress', 2, 5, 'prose', 'no JSON');
        insert into dead_letter (owner_ref, task, output, error) values (1, 'compact', null, 'down')`);
      await client.query(files[last]?.statements ?? "");
      const { rows } = await client.query(`
        select kind, coalesce(thread_ref, owner_ref)::int as ref, done_until::int, attempts, error, output, progress,
          lease_until is not null as leased, retry_at is not null as due, given_up_at is not null as given_up
        from work order by given_up, kind`);
      const row = {
        ref: 1,
        attempts: 0,
        error: null,
        output: null,
        progress: null,
        leased: false,
        due: false,
        given_up: false,
      };
      expect(rows).toEqual([
        // Something changed since: all of it counts as changed.
        { ...row, kind: "consolidation", done_until: 0 },
        { ...row, kind: "facts", done_until: 3, attempts: 1, leased: true },
        { ...row, kind: "insights", done_until: 7 },
        { ...row, kind: "notes", done_until: -1, attempts: 2, error: "no", due: true },
        { ...row, kind: "summaries", done_until: 5, attempts: 2, leased: true },
        {
          ...{ ...row, kind: "compaction", done_until: 0, error: "down", given_up: true },
          progress: { startSeq: null, endSeq: null, doneUntil: null },
        },
        {
          ...{ ...row, kind: "episodes", done_until: 1, error: "no JSON", output: "prose", given_up: true },
          progress: { startSeq: 2, endSeq: 5, doneUntil: 3 },
        },
      ]);
    } finally {
      await client.query("reset search_path");
      client.release();
    }
  });
});
