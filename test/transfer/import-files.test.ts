import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { splitLines } from "../../src/transfer/read-export.js";
import { asText, linesOf, ofType } from "../support/export-lines.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const now = new Date().toISOString();
const format = { type: "header", format: "mnemograph", version: 1, exportedAt: now };
const headerOf = (userId: string) => ({ ...format, scope: { userId } });
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const invalid = (message: RegExp) => ({
  code: "INVALID_INPUT",
  message: expect.stringMatching(message),
});

describe("an invalid line", () => {
  const history = {
    type: "history",
    memoryId: randomUUID(),
    event: "ADD",
    actor: null,
    revision: null,
  };
  it.each<[string, (header: string) => unknown[], RegExp]>([
    [
      "a line of 11 MB",
      (header) => [header, `{"type":"${"x".repeat(11_000_000)}"}`],
      /^Line 2: it is longer than 10000000/,
    ],
    [
      "a line 5,000 levels deep",
      (header) => [
        header,
        JSON.stringify({ ...history, old: "@", new: null }).replace('"@"', deep(5_000)),
      ],
      /^Line 2: it is nested deeper than 1000 levels/,
    ],
    [
      "a line a million levels deep, and cut off",
      (header) => [header, "[".repeat(1_000_000)],
      /^Line 2: it is nested/,
    ],
    [
      "an object that is a circle",
      (header) => {
        const line: Record<string, unknown> = { ...history };
        line.old = line;
        return [header, line];
      },
      /^Line 2: this cannot be written as JSON/,
    ],
    [
      "an object with a big number",
      (header) => [header, { ...history, old: 1n }],
      /^Line 2: this cannot be written as JSON/,
    ],
    ["nothing at all", (header) => [header, undefined], /^Line 2: this is no JSON/],
  ])(
    "An import refuses a line that is too long, too deep or no JSON: %s",
    async (_, lines, problem) => {
      const header = JSON.stringify(headerOf(randomUUID()));
      await expect(db.memory().import({ lines: lines(header) as string[] })).rejects.toMatchObject(
        invalid(problem),
      );
    },
  );

  it("An import refuses a message 5,000 levels deep", async () => {
    const scope = { userId: randomUUID() };
    const memory = db.memory();
    await memory.record({
      scope,
      threadId: scope.userId,
      messages: [new HumanMessage({ id: "h", content: "hi" })],
    });
    const lines = asText(await linesOf(memory, scope)).map((line) =>
      line.replace(
        String.raw`\"additional_kwargs\":{}`,
        String.raw`\"additional_kwargs\":{\"a\":${deep(5_000)}}`,
      ),
    );
    const target = { scope: { userId: randomUUID(), tenantId: "deep" } };
    await expect(memory.import({ lines, ...target })).rejects.toMatchObject(
      invalid(/^Line \d: it is nested deeper than 1000/),
    );
  });
});

it("An import names the lines of a batch that the database does not take, and writes none of them", async () => {
  const scope = { userId: randomUUID() };
  const source = db.memory();
  const drafts = Array.from({ length: 20 }, (_, index) => ({
    text: `Knows that number ${index} is odd.`,
  }));
  await source.memories.add({ scope, memories: drafts });
  const lines = await linesOf(source, scope);
  await source.forget({ scope });
  const third = ofType(lines, "memory")[2]?.text;
  // Blank is only what comes of it.
  const memory = db.memory({ redact: (text) => (text === third ? " " : text) });
  await expect(memory.import({ lines })).rejects.toMatchObject(
    invalid(
      new RegExp(
        `^Lines 1 to ${lines.length}: the database does not take one of them \\(SQLSTATE 23514\\)`,
      ),
    ),
  );
  expect(await memory.memories.list({ scope })).toEqual([]);
});

describe("lines of a file", () => {
  const read = async (chunks: Iterable<Uint8Array>) => {
    const lines: string[] = [];
    for await (const line of splitLines(
      (async function* () {
        yield* chunks;
      })(),
    ))
      lines.push(line);
    return lines;
  };

  it("Lines of a file end with line feeds alone, for any parts of its bytes", async () => {
    const bytes = new TextEncoder().encode('\ufeff{"a":"é\u2028\u0085😀"}\r\n\nlast');
    for (let size = 1; size <= bytes.length; size++) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.slice(index * size, (index + 1) * size),
      );
      expect(await read(chunks)).toEqual(['{"a":"é\u2028\u0085😀"}', "", "last"]);
    }
  });

  it("A file that is no UTF-8 is refused, and none of its letters becomes another", async () => {
    const latin = new Uint8Array([0x22, 0x4a, 0x6f, 0x73, 0xe9, 0x22, 0x0a]); // "José"
    const text = new TextEncoder().encode("first\n");
    await expect(read([text, latin])).rejects.toMatchObject(invalid(/^Line 2: .*UTF-8/));
    await expect(read([gzipSync("first\n")])).rejects.toMatchObject(
      invalid(/^Line 1: .*no UTF-8\. Unpack a compressed file/),
    );
    await expect(read([text, new Uint8Array([0x22, 0xc3])])).rejects.toMatchObject(
      invalid(/^Line 2: .*UTF-8/), // cut within a letter
    );
  });

  it("Lines of a file are read no further than the longest allowed", async () => {
    let given = 0;
    function* endless() {
      yield new TextEncoder().encode("first\n");
      for (;;) {
        given++;
        yield new Uint8Array(65_536).fill(0x78);
      }
    }
    await expect(read(endless())).rejects.toMatchObject(invalid(/^Line 2: it is longer than/));
    expect(given).toBeLessThan(160);
  });
});
