import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../../support/test-database.js";
import { expectNoneCrossed, readsAtOnce, startOwners } from "./crossed-reads.js";

const database = useTestDatabase();

describe("reads of three tenants in threads of equal ids", () => {
  it("Read state with all subgraphs is the named owner's, whatever others read at once", async () => {
    const started = await startOwners(database.memory());
    let own = 0;
    const check = async (reads: Parameters<typeof expectNoneCrossed>[1]) => {
      own += await expectNoneCrossed(started, reads);
    };
    const property = fc.asyncProperty(readsAtOnce(started.owners, 20), check);
    await fc.assert(property, { numRuns: 12 });
    expect(own).toBeGreaterThan(20);
  });

  it("A read that names nobody is refused after an owner's in the same code, by each call", async () => {
    const { graph, threadId, owners } = await startOwners(database.memory());
    const [{ tenant, user }] = owners as [(typeof owners)[0]];
    const anns = { configurable: { thread_id: threadId, tenant_id: tenant, user_id: user } };
    for (const checkpoint_ns of ["", "one", "two", "one|inner"]) {
      const bare = { configurable: { thread_id: threadId, checkpoint_ns } };
      await graph.getState(anns, { subgraphs: true });
      await expect(graph.getState(bare)).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
      await graph.invoke({ owner: user }, anns);
      await expect(graph.getState(bare)).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
    }
  });
});
