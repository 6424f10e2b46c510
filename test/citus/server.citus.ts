import { describe, expect, inject, it } from "vitest";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useCommandLine } from "../support/command-line.js";
import { dueJobsConfig, instantAnswers } from "../support/due-jobs.js";
import { useSchemaNames } from "../support/fresh-schema.js";
import { silentLogger } from "../support/silent-logger.js";
import { round } from "../support/spoken.js";
import { useTestDatabase } from "../support/test-database.js";
import { createTestMemory } from "../support/test-memory.js";
import { limitsMs } from "../support/timing.js";

const db = useTestDatabase();
const schemaName = useSchemaNames(db);
const command = useCommandLine(db);

const url = () => inject("databaseUrl") ?? "";
const withSetting = (name: string, value: string) =>
  `${url()}?options=-c%20citus.${name}%3D${value}`;

describe("Citus, for an operator", () => {
  it("Setup refuses isolation of tenants by rls, and leaves nothing", async () => {
    const schema = schemaName();
    await expect(db.memory({ schema, isolation: "rls" }).setup()).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message:
        'isolation: "rls" does not work on Citus: it carries rows by COPY, which row-level security refuses. ' +
        "Give each tenant a schema, or rely on scopes.",
    });
    const { rows } = await db.pool.query("select from pg_namespace where nspname = $1", [schema]);
    expect(rows).toEqual([]);
  });

  it("A worker without its queues on the coordinator says what its connection string lacks", async () => {
    const { code, err } = await command.runOn([
      ...["worker", "--database", url()],
      ...["--schema", db.schema, "--queue-schema", schemaName()],
    ]);
    expect(code).toBe(2);
    expect(err).toContain(
      "Citus cannot distribute pg-boss's tables. Keep them on the coordinator: end the connection string with " +
        "?options=-c%20citus.enable_schema_based_sharding%3Doff",
    );
  });

  it("A worker whose queues stay on the coordinator learns what another process was told", async () => {
    const database = withSetting("enable_schema_based_sharding", "off");
    const queue = schemaName();
    const options = {
      database,
      schema: db.schema,
      logger: silentLogger,
      model: new OfflineChatModel({ structured: instantAnswers }),
      config: { ...dueJobsConfig, jobs: { sweepIntervalMs: 500, pollIntervalMs: 100 } },
      jobs: { pgBoss: { schema: queue } },
    };
    const [web, working] = [createTestMemory(options), createTestMemory(options)];
    try {
      const worker = await working.work({ kinds: ["facts"] });
      const scope = { userId: "ben" };
      await web.remember({ scope, threadId: "queued", messages: round("I live in Lisbon") });
      await expect.poll(() => worker.status().done, { timeout: limitsMs.step }).toBeGreaterThan(0);
      expect((await web.memories.list({ scope })).length).toBeGreaterThan(0);
    } finally {
      await Promise.all([web.close(), working.close()]);
    }
  });
});
