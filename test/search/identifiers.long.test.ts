import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { memoryQueryTool } from "../../src/index.js";
import { chosenVectors } from "../support/chosen-vectors.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const dimensions = 128;
const unrelatedTexts = 20;

/**
 * Finds all texts of mail as good as the same, and what has `identifier` all but unrelated to them
 * and to a question.
 */
function misled(identifier: string) {
  let next = 0;
  return chosenVectors((text) => {
    const vector = new Array<number>(dimensions).fill(0);
    const isNear = /mail|gets/.test(text) && (text.endsWith("?") || !text.includes(identifier));
    const cosine = isNear ? 0.97 : 0.1;
    vector[0] = cosine;
    vector[1 + (next++ % (dimensions - 1))] = Math.sqrt(1 - cosine ** 2);
    return vector;
  });
}

describe("an identifier of the question that few memories have", () => {
  it.each([
    ["a mail address", "billing@example.org"],
    ["a ticket", "OPS-4471"],
    ["a part number", "QX-7741-Z"],
    ["a digest", "9f86d081884c7d659a2feaa0c55ad015"],
    ["a version", "2.14.3"],
    ["an account", "DE89370400440532013000"],
    ["a telephone number", "+49 30 8844221"],
    ["an IP address", "10.20.30.41"],
    ["a UUID", "550e8400-e29b-41d4-a716-446655440000"],
    ["an order", "#100234"],
    ["a path", "/etc/nginx/site7.conf"],
    ["a handle", "@ana_m"],
    ["a plate", "B-MX 4471"],
    ["a constant", "ERR_CONNECTION_RESET"],
    ["a host", "shop.example.org"],
    ["a file", "report.docx"],
    ["an address", "https://example.org/pricing"],
  ])(
    "Memories with an identifier of the question are found first for any vectors: %s",
    async (_, identifier) => {
      const memory = db.memory({ embeddings: misled(identifier) });
      await memory.setup();
      const scope = { userId: randomUUID() };
      const near = Array.from({ length: 60 }, (_, index) => ({
        text: `Somebody gets the mail of office w${index}x.`,
      }));
      const other = Array.from({ length: unrelatedTexts }, (_, index) => ({
        text: `Word w${index}y and word w${index}z.`,
      }));
      const texts = [`The shed is known as ${identifier}.`, `Peter painted ${identifier} in blue.`];
      await memory.memories.add({
        scope,
        memories: [...near, ...other, ...texts.map((text) => ({ text }))],
      });
      for (const query of [
        `Who gets the mail of ${identifier}?`,
        `Who gets mail: ${identifier}?`,
      ]) {
        const hits = await memory.query({ scope, query });
        const answer = JSON.parse(await memoryQueryTool(memory, { scope }).invoke({ query }));
        const { memories } = await memory.recall({ scope, threadId: query, query });
        const found = {
          query: hits.slice(0, 2).map((hit) => hit.memory.text),
          tool: answer
            .slice(0, 2)
            .map((hit: { text: string }) => hit.text.replace(/^\[\w+\] /, "")),
          recall: memories.relevant.slice(0, 2).map((hit) => hit.memory.text),
        };
        for (const [way, first] of Object.entries(found))
          expect(first.toSorted(), `${way}: ${query}`).toEqual(texts.toSorted());
      }
    },
  );
});
