import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { addNotes } from "../../notes/note-facts.js";
import { appOf, newTalk, noted, noteModel, notesOf } from "../../notes/note-model.js";
import { judgingModel, samePair } from "../../support/pair-judge.js";
import { round } from "../../support/spoken.js";
import { candidate, facts } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** A tenant on a clock of its own whose energy comes back by the hour, and all work there is. */
function workshop() {
  let now = new Date("2031-05-05T10:30:00Z");
  const said = "The user likes hiking in the hills.";
  const model = noteModel({
    app_note: () => noted("The user came to plan a hike."),
    fact_extraction: () => facts(candidate(said, said)),
    user_insights: () => ({
      structured: {
        insights: [{ summary: "The user is fond of nature.", tags: [], evidence: [1] }],
      },
    }),
    memory_pairs: judgingModel(() => "same").reply,
  });
  const memory = db.memory({
    model,
    clock: () => now,
    config: {
      memories: { extract: true },
      insights: { enabled: true },
      consolidation: { enabled: true },
      energy: { capacityUnits: 1_000 },
    },
  });
  return {
    memory,
    model,
    said,
    passed(hours: number) {
      now = new Date(now.getTime() + hours * 3_600_000);
    },
    /** How often each kind of work that can wait has asked the model. */
    asked: () =>
      ["app_note", "note_compaction", "user_insights", "memory_pairs"].map(
        (name) => model.prompts(name).length,
      ),
  };
}

it("Deferrable work waits while energy is low, facts and summaries continue, and all of it is done later", async () => {
  const { memory, model, said, asked, passed } = workshop();
  const tenantId = randomUUID();
  const talk = newTalk(randomUUID(), tenantId);
  const subjects = [
    "tea",
    "rye",
    "jazz",
    "chess",
    "skiing",
    "opera",
    "ferns",
    "maps",
    "clay",
    "kites",
  ];
  await addNotes(
    memory,
    appOf(talk),
    [...subjects, "owls"].map((subject) => `The user likes ${subject}.`),
  );
  await memory.memories.add({
    scope: { tenantId, userId: talk.scope.userId },
    memories: samePair,
  });
  // 150 of 1,000 units are left.
  await db.pool.query(
    `insert into "${db.schema}".usage values
     (gen_random_uuid(), $1, '', '', null, 'facts', 85000, 0, 850, '2031-05-05T10:30:00Z')`,
    [tenantId],
  );
  const messages = [new HumanMessage(said), ...["1", "2", "3"].flatMap(round)];
  await memory.remember({ ...talk, messages });
  await memory.threads.end(talk);
  for (let times = 0; times < 3; times++) {
    passed(0.01);
    // Its tenant's time of day has come.
    await db.pool.query(
      `update "${db.schema}".work set retry_at = '2031-05-05' where kind = 'consolidation' and attempts = 0`,
    );
    await memory.upkeep();
  }

  for (const task of ["fact_extraction", "conversation_summary"])
    expect(model.prompts(task)).toHaveLength(1);
  expect(asked()).toEqual([0, 0, 0, 0]);
  expect(await notesOf(memory, talk)).toHaveLength(11);
  const scopes = [{ tenantId, userId: talk.scope.userId }, appOf(talk)];
  const events = await Promise.all(
    scopes.map((scope) => memory.events.list({ scope, limit: 100 })),
  );
  const waiting = events
    .flat()
    .filter(({ detail }) => detail === "LOW_ENERGY")
    .map(({ step }) => step);
  expect([...new Set(waiting)].toSorted()).toEqual([
    "compaction",
    "consolidation",
    "insights",
    "notes",
  ]);

  passed(25);
  for (let times = 0; times < 3; times++) await memory.upkeep();
  expect(asked()).toEqual([1, 2, 1, expect.any(Number)]);
  expect(asked()[3]).toBeGreaterThan(0);
  const notes = await notesOf(memory, talk);
  expect(notes).toHaveLength(10);
  expect(notes).toContain("The user came to plan a hike.");
  const { energy } = await memory.stats({ tenantId });
  expect(energy.kinds.map(({ kind }) => kind)).toContain("consolidation");
  expect(await memory.memories.list({ scope: scopes[0]!, kinds: ["insight"] })).toHaveLength(1);
});
