import { randomUUID } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useChildScripts } from "../support/child-scripts.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";
import { addNotes } from "./note-facts.js";
import { appOf, newTalk, notesOf } from "./note-model.js";

const db = useTestDatabase();
const start = useChildScripts();

describe.skipIf(!onServer())("conversations of one app that end at once (server only)", () => {
  it.each([0, 10])(
    "Conversations that end at once in three processes leave exactly the limit of notes, from %i",
    async (before) => {
      const talk = newTalk(randomUUID());
      const memory = db.memory();
      await addNotes(
        memory,
        appOf(talk),
        Array.from({ length: before }, (_, index) => `The user has project number ${index}.`),
      );
      const url = inject("databaseUrl") ?? "";
      const each = before === 0 ? 5 : 2;
      const processes = ["one", "two", "three"].map((name) =>
        start("end-conversations", [url, db.schema, talk.scope.appId, name, `${each}`]),
      );
      await Promise.all(processes.map((process) => process.line("ready")));
      for (const process of processes) process.say("end");
      await Promise.all(processes.map((process) => process.line("done")));

      const notes = await notesOf(memory, talk);
      expect(notes).toHaveLength(10);
      expect(new Set(notes).size).toBe(10);
      const { rows } = await db.pool.query<{ details: string[] }>(
        `select array_agg(detail) as details from "${db.schema}".event
         where app_id = $1 and step = 'compaction' and op = 'classify'`,
        [talk.scope.appId],
      );
      expect(rows[0]?.details).toHaveLength(before + 3 * each - 10);
      const { rows: due } = await db.pool.query(
        `select 1 from "${db.schema}".work where kind = 'compaction' and (retry_at is not null or lease_until is not null)`,
      );
      expect(due).toEqual([]);
      expect(await brokenInvariants(db)).toEqual([]);
    },
    limitsMs.long,
  );
});
