import { createServer } from "node:net";
import { inspect } from "node:util";
import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { errorOf } from "../memory/sample-calls.js";
import { freePort } from "../support/free-port.js";
import { code } from "../support/rejection.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer } from "../support/test-database.js";

const thread = { scope: { userId: "ana" }, threadId: "t" };
const open = (database: string) => createMemory({ database, logger: silentLogger });

describe("a database that cannot be reached", () => {
  it("An unreachable database is tried for some seconds, then reported with what to check", async () => {
    const memory = open(`postgresql://ana:secret@127.0.0.1:${await freePort()}/db`);
    const messages = [new HumanMessage("hello")];
    const calls = [
      memory.recall(thread),
      memory.remember({ ...thread, messages }),
      memory.threads.list({ scope: thread.scope }),
    ];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toEqual({ status: "rejected", reason: code("DATABASE_UNAVAILABLE") });
      expect(inspect(result)).toMatch(/Check that it runs/);
      expect(inspect(result)).not.toContain("secret");
    }
    await expect(memory.setup()).rejects.toThrow(code("DATABASE_UNAVAILABLE"));
    await memory.close();
  });

  it("A Unix socket that is gone is an outage, as where its server restarts", async () => {
    const memory = open("postgresql:///db?host=/nowhere");
    await expect(memory.recall(thread)).rejects.toThrow(/ENOENT \/nowhere.*Check that it runs/);
    await memory.close();
  });

  it("A server without encryption, where some is asked for, is named with what to set", async () => {
    const port = await freePort();
    const server = createServer((socket) => socket.once("data", () => socket.write("N")));
    server.listen(port, "127.0.0.1");
    const memory = open(`postgresql://ana@127.0.0.1:${port}/db?sslmode=require`);
    const failed = await errorOf(() => memory.recall(thread));
    expect(failed).toEqual(code("DATABASE_UNAVAILABLE"));
    expect(String(failed)).toMatch(/does not support SSL connections.*sslmode=disable/);
    server.close();
    await memory.close();
  });

  it("A database that comes back while it is being tried is used again", async () => {
    const port = await freePort();
    const memory = open(`postgresql://ana@127.0.0.1:${port}/db`);
    const recalling = expect(memory.recall(thread)).rejects.toThrow(code("DATABASE_ERROR"));
    // Answers with an error of the protocol.
    const server = createServer((socket) => {
      const text = "SFATAL\0C0A000\0Mnot a database\0\0";
      const length = Buffer.alloc(4);
      length.writeInt32BE(4 + text.length);
      socket.end(Buffer.concat([Buffer.from("E"), length, Buffer.from(text)]));
    });
    server.listen(port, "127.0.0.1");
    await recalling;
    server.close();
    await memory.close();
  });

  it.skipIf(!onServer())(
    "A wrong database name is reported with what to check (server only)",
    async () => {
      const url = new URL(inject("databaseUrl") ?? "");
      url.pathname = "/no_such_database";
      const memory = open(url.href);
      await expect(memory.recall(thread)).rejects.toThrow(code("DATABASE_UNAVAILABLE"));
      await expect(memory.setup()).rejects.toThrow(
        /no_such_database.*Check user, password and database name/,
      );
      await memory.close();
    },
  );
});

describe("an invalid database", () => {
  it.each<[unknown, RegExp]>([
    ["", /must start with postgresql:/],
    ["127.0.0.1:5432", /must start with postgresql:/],
    ["mysql://ana@127.0.0.1/db", /must start with postgresql:/],
    ["postgresql://ana:secret@[/db", /cannot be used: Invalid URL/],
    ["postgresql://ana:secret@127.0.0.1:99999/db", /cannot be used: Invalid URL/],
    [{ dataDir: " " }, /must be a pg.Pool, a connection string or { dataDir }/],
    [{ dataDir: 7 }, /must be a pg.Pool/],
    [{}, /must be a pg.Pool/],
    [new pg.Client(), /must be a pg.Pool/],
    [{ dataDir: "open in PGlite", query() {} }, /must be a pg.Pool/],
    [null, /must be a pg.Pool/],
    [42, /must be a pg.Pool/],
  ])("An invalid database is refused: %j", async (database, message) => {
    const error = await errorOf(() => createMemory({ database: database as string }));
    expect(error).toEqual(code("INVALID_INPUT"));
    expect(String(error)).toMatch(message);
    expect(inspect(error)).not.toContain("secret");
  });
});
