import {
  Annotation,
  getStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { user, useStoreDatabase } from "./store-samples.js";

const db = useStoreDatabase();

describe("a store in LangGraph", () => {
  const State = Annotation.Root({ found: Annotation<unknown[]> });

  it("Nodes of a graph use the store by getStore() and config.store, several calls at once", async () => {
    const store = db.memory().store(user());
    const graph = new StateGraph(State)
      .addNode("write", async (_, config: LangGraphRunnableConfig) => {
        await config.store?.put(["users", "a_b-c"], "k1", { text: "one" });
        await Promise.all([
          config.store?.put(["users", "a_b-c"], "k2", { text: "two" }),
          config.store?.put(["users", "a_b-c"], "k3", { text: "three" }),
        ]);
        return {};
      })
      .addNode("read", async () => {
        const inside = getStore();
        const put = inside?.put(["users", "a_b-c"], "k4", { text: "four" });
        const found = await Promise.all([
          inside?.get(["users", "a_b-c"], "k1"),
          inside?.search(["users"], { query: "two" }),
          inside?.get(["users", "a_b-c"], "k4"),
          inside?.delete(["users", "a_b-c"], "k3"),
        ]);
        await put;
        return { found };
      })
      .addEdge(START, "write")
      .addEdge("write", "read")
      .compile({ store });
    const { found } = await graph.invoke({ found: [] });
    expect(found).toMatchObject([
      { value: { text: "one" } },
      [{ key: "k2" }],
      { value: { text: "four" } },
      undefined,
    ]);
    expect((await store.search(["users", "a_b-c"])).map(({ key }) => key).sort()).toEqual([
      "k1",
      "k2",
      "k4",
    ]);
  });
});
