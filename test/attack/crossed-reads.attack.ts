import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  expectNoneCrossed,
  readsAtOnce,
  startOwners,
} from "../langgraph/checkpointer/crossed-reads.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

describe("reads of three tenants in threads of equal ids", () => {
  const isolated = onServer() ? useIsolatedDatabase(db) : null;

  it.each(["by scopes", ...(isolated ? ["by row-level security"] : [])])(
    "10,000 random reads at once cross none, isolated %s",
    async (isolation) => {
      const started = await startOwners(
        isolation === "by scopes" ? db.memory() : (isolated ?? db).memory(),
      );
      const counts = { reads: 0, own: 0 };
      const check = async (reads: Parameters<typeof expectNoneCrossed>[1]) => {
        counts.own += await expectNoneCrossed(started, reads);
        counts.reads += reads.length;
      };
      const property = fc.asyncProperty(readsAtOnce(started.owners, 60), check);
      while (counts.reads < 10_000) await fc.assert(property, { numRuns: 20 });
      console.log(`${counts.reads} reads, ${counts.own} with the reader's own state`);
      expect(counts.own).toBeGreaterThan(counts.reads / 5);
    },
  );
});
