import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { MemoryError } from "../../../src/errors.js";
import { errorKind, errorLine, lineLogger } from "../../../src/logger.js";
import { databaseWords, toMemoryError } from "../../../src/postgres/database-error.js";
import { findEverywhere } from "../../support/find-everywhere.js";
import { recordingLogger } from "../../support/recording-logger.js";
import { candidate, facts, taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";
import type { TestOptions } from "../../support/test-memory.js";
import { newAddress } from "../../support/thread-facts.js";

const db = useTestDatabase();
const marker = "Zaubertrank";

/** An error of OpenAI's client, which quotes the prompt. */
class BadRequestError extends Error {
  readonly status = 400;
  readonly code = "context_length_exceeded";
}
const quoting = (prompt: unknown) =>
  new BadRequestError(`400 cannot answer ${JSON.stringify(prompt)}`);

const eager = {
  memories: { extract: true, episodes: true, episodeEveryTurns: 2 },
  summaries: { afterSeq: 1, maxAttempts: 1, retryDelayMs: 0 },
  upkeep: { maxAttempts: 1, maxFailures: 1, retryDelayMs: 0 },
};

/** Remembers a conversation with the marker. Returns the log lines. */
async function converse(options: TestOptions): Promise<string> {
  const logger = recordingLogger();
  const memory = db.memory({ config: eager, ...options, logger });
  await memory.setup();
  const thread = newAddress();
  for (const turn of [1, 2, 3, 4]) {
    const messages = [
      new HumanMessage(`I brew ${marker} ${turn}.`),
      new AIMessage(`${marker}, fine.`),
    ];
    await memory.remember({ ...thread, messages });
    await memory.upkeep();
  }
  await memory.recall({ ...thread, query: `Where is my ${marker}?` });
  return logger.lines.join("\n");
}

/** The tables of errors and events that contain the marker. */
async function marked(): Promise<string[]> {
  const { rows } = await db.pool.query(`select from "${db.schema}".work where error like $1`, [
    `%${marker}%`,
  ]);
  const { event = 0 } = await findEverywhere(db, marker);
  return [...rows.map(() => "work"), ...(event > 0 ? ["event"] : [])];
}

describe("words of a conversation", () => {
  it("No log line, error or event has words that the model's provider quotes from the prompt", async () => {
    const throwing = taskModel({
      conversation_summary: (prompt) => Promise.reject(quoting(prompt)) as never,
      fact_extraction: (prompt) => Promise.reject(quoting(prompt)) as never,
      episode_summary: (prompt) => Promise.reject(quoting(prompt)) as never,
    });
    const log = await converse({ model: throwing });
    const failed = log.split("\n").filter((line) => /failed: |tries: /.test(line));
    expect(failed.length).toBeGreaterThan(3);
    expect(
      failed.every((line) => line.includes("BadRequestError (400, context_length_exceeded)")),
    ).toBe(true);
    expect(log).not.toContain(marker);
    expect(await marked()).toEqual([]);
  });

  it("No log line, error or event has words that the model answers with", async () => {
    const rambling = () => ({
      structured: { [marker]: marker, facts: [{ text: marker, category: 7 }] },
    });
    const model = taskModel({
      conversation_summary: rambling,
      fact_extraction: rambling,
      episode_summary: () => `${marker} {`,
    });
    const log = await converse({ model });
    expect(log).toMatch(/not a valid fact_extraction/);
    expect(log).not.toContain(marker);
    expect(await marked()).toEqual([]);
  });

  it("No log line, error or event has words that the redactor or the embeddings throw", async () => {
    const failing = { embedDocuments: throwing, embedQuery: throwing };
    const model = taskModel({
      fact_extraction: () => facts(candidate(`The user brews ${marker}.`, marker)),
    });
    const embedded = await converse({ model, embeddings: failing });
    expect(embedded).toMatch(/searching without vectors: The embeddings failed: Error/);
    let calls = 0;
    const redact = (text: string) => {
      if (calls++ > 12) throw new Error(`cannot redact ${text}`);
      return text;
    };
    const remembering = converse({ model, redact });
    await expect(remembering).rejects.toMatchObject({
      message: expect.not.stringContaining(marker),
    });
    expect(embedded).not.toContain(marker);
    expect(await marked()).toEqual([]);
  });

  async function throwing(text: string | string[]): Promise<never> {
    throw new Error(`cannot embed ${text}`);
  }
});

describe("errors of the database", () => {
  it.each([
    ["select $1::uuid", marker],
    ["select $1::timestamptz", marker],
    ["select to_tsquery('english', $1)", `${marker} ${marker}`],
    ["select $1::json", `{"${marker}`],
    [`insert into pg_temp.kept values ($1), ($1)`, marker],
  ])("An error of the database is reported without values: %s", async (statement, value) => {
    const client = await db.pool.connect();
    try {
      await client.query("create temporary table if not exists kept (said text unique)");
      const error = await client.query(statement, [value]).catch((cause: unknown) => cause);
      const reported = toMemoryError(error, db.schema);
      expect(reported.code).toBe("DATABASE_ERROR");
      expect(errorLine(reported)).not.toContain(marker);
      expect(errorLine(reported).length).toBeGreaterThan("The database reported: ".length + 4);
      expect(errorLine(error)).not.toContain(marker);
    } finally {
      client.release();
    }
  });

  it("An error of the database names tables and roles", () => {
    const error = Object.assign(new Error('relation "memory" does not exist'), { code: "42P01" });
    expect(databaseWords(error)).toBe('relation "memory" does not exist');
  });
});

describe("log lines of errors", () => {
  it("The log line of an error has its kind and its place in the code, but not its message", () => {
    const error = new TypeError(
      `${marker} is not a function\n    at ${marker} (/${marker}.js:1:1)`,
    );
    expect(errorLine(error)).toMatch(/^unexpected TypeError at [\w.-]+\.ts:\d+$/);
    expect(errorLine(marker)).toBe("unexpected error of type string");
    const wrapped = Object.assign(new Error("Connection error."), {
      cause: { code: "ECONNREFUSED" },
    });
    expect(errorKind(wrapped)).toBe("Error (ECONNREFUSED)");
    const odd = Object.assign(new Error(marker), {
      name: `${marker} said`,
      code: `${marker} 4`,
      status: marker,
    });
    expect(errorKind(odd)).toBe("Error");
    const trap = new Proxy(new Error(marker), {
      get() {
        throw new Error(marker);
      },
    });
    expect(errorLine(trap)).toBe("unexpected Error");
  });

  it("The log line of an error is one line of bounded length, like every log line", () => {
    const logger = recordingLogger();
    lineLogger(logger).warn(`one\ntwo\u2028three\r${"x".repeat(10_000)}`);
    expect(logger.lines[0]).toMatch(/^warn: one two three x+…$/);
    expect(logger.lines[0]).toHaveLength("warn: ".length + 1_000);
    expect(errorLine(new MemoryError("NOT_FOUND", `a\n${"b".repeat(2_000)}`))).toHaveLength(500);
  });
});
