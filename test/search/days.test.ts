import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: randomUUID() };
const places = "harbour museum bakery library market garden theatre station".split(" ");
const dayOf = (at: Date) => at.getUTCDate();
const days = Array.from({ length: 12 }, (_, index) => index + 1);
const at = (day: number, hour: number) => new Date(Date.UTC(2030, 2, day, hour));

describe("twelve days with four facts each", () => {
  let now = at(12, 20);
  let memory: Memory;

  beforeAll(async () => {
    memory = db.memory({ clock: () => now });
    for (const day of days) {
      const threadId = `${scope.userId} ${day}`;
      const visits = [8, 12, 16, 21].map((hour, index) => ({
        hour,
        text: `visited the ${places[(day * 3 + index) % 8]} ${day * 10 + index}`,
      }));
      for (const [index, { hour, text }] of visits.entries()) {
        const said = [
          { role: "user", content: `I ${text}.`, id: `${threadId} ${index}` },
          { role: "assistant", content: "I see.", id: `${threadId} ${index} a` },
        ];
        await memory.record({ scope, threadId, messages: said, saidAt: at(day, hour) });
      }
      const drafts = visits.map(({ hour, text }, index) => ({
        text: `The user ${text}.`,
        category: "event",
        validFrom: at(day, hour),
        source: { threadId, seqs: [2 * index], quote: `I ${text}.` },
      }));
      await memory.memories.add({ scope, memories: drafts });
    }
  });

  it.each<[asked: number, day: number, query: string]>([
    [20, 3, "What did I do on 3 March 2030?"],
    [20, 9, "Which places did I visit on March 9?"],
    [12, 5, "What did I visit on 2030-03-05?"],
    [12, 11, "What did I visit yesterday?"],
    [12, 11, "Where was I yesterday?"],
    [12, 10, "What did I visit the day before yesterday?"],
    [12, 9, "Which places did I visit three days ago?"],
    [12, 5, "What did I visit last Tuesday?"],
    [12, 8, "What did I visit last Friday?"],
  ])(
    "A question asked on the %d ranks what happened on the %d first, then the nearest day: %s",
    async (asked, day, query) => {
      now = at(asked, 20);
      const hits = await memory.query({ scope, query, topK: 5 });
      const { memories } = await memory.recall({ scope, threadId: randomUUID(), query });
      const messages = await memory.transcript.search({ scope, query, topK: 5 });
      const found = {
        query: hits.map((hit) => dayOf(hit.memory.validFrom)),
        recall: memories.relevant.map((hit) => dayOf(hit.memory.validFrom)),
        transcript: messages.map((hit) => dayOf(hit.saidAt)),
      };
      const four = Array(4).fill(day);
      expect({
        query: found.query.slice(0, 4),
        recall: found.recall.slice(0, 4),
        transcript: found.transcript.slice(0, 4),
      }).toEqual({ query: four, recall: four, transcript: four });
      expect(Math.abs(Number(found.query[4]) - day)).toBe(1);
    },
  );
});
