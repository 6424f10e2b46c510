import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { copyCheckpoints } from "../../examples/copy-checkpoints.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
type State = typeof MessagesAnnotation.State;

/** A graph whose subgraph asks a question before it answers. */
function askingGraph(checkpointer: BaseCheckpointSaver) {
  const asking = new StateGraph(MessagesAnnotation)
    .addNode("ask", ({ messages }: State) => {
      const said = messages.findLast(HumanMessage.isInstance)?.text ?? "";
      const answer = said.includes("book") ? interrupt(`Really ${said}?`) : "no need";
      return { messages: [new AIMessage(`${said}: ${answer}`)] };
    })
    .addEdge(START, "ask")
    .compile({ checkpointer: true });
  return new StateGraph(MessagesAnnotation)
    .addNode("assistant", asking)
    .addNode("close", () => ({ messages: [new AIMessage("done")] }))
    .addEdge(START, "assistant")
    .addEdge("assistant", "close")
    .compile({ checkpointer });
}

const textsOf = (values: unknown) => (values as State).messages.map(({ text }) => text);

async function historyOf(
  graph: ReturnType<typeof askingGraph>,
  configurable: Record<string, string>,
) {
  const history = [];
  for await (const snapshot of graph.getStateHistory({ configurable })) {
    const { values, next, metadata, config, parentConfig, tasks } = snapshot;
    history.push({
      texts: textsOf({ messages: [], ...(values as object) }),
      next,
      step: metadata?.step,
      id: config.configurable?.checkpoint_id,
      parent: parentConfig?.configurable?.checkpoint_id,
      interrupts: tasks.map((task) => task.interrupts.map(({ value }) => value)),
    });
  }
  return history;
}

async function conversations(saver: BaseCheckpointSaver) {
  const graph = askingGraph(saver);
  for (const [thread_id, texts] of [
    ["trip", ["hello", "what is new?", "book a flight"]],
    ["other", ["hi"]],
  ] as const) {
    for (const text of texts)
      await graph.invoke({ messages: [new HumanMessage(text)] }, { configurable: { thread_id } });
  }
  return graph;
}

describe("copyCheckpoints", () => {
  it("copyCheckpoints copies threads with their history, and a run resumes from its interrupt", async () => {
    const from = new MemorySaver();
    const before = await conversations(from);
    const to = db.memory().checkpointer();
    expect(
      (await copyCheckpoints({ from, to, scopeOf: () => ({ userId: "copied" }) })).threads,
    ).toBe(2);

    const after = askingGraph(to);
    const ids = { thread_id: "trip", user_id: "copied" };
    expect(await historyOf(after, ids)).toEqual(await historyOf(before, { thread_id: "trip" }));
    const resumed = await after.invoke(new Command({ resume: "yes" }), { configurable: ids });
    const expected = await before.invoke(new Command({ resume: "yes" }), {
      configurable: { thread_id: "trip" },
    });
    expect([textsOf(resumed), textsOf(resumed).at(-2)]).toEqual([
      textsOf(expected),
      "book a flight: yes",
    ]);
    await expect(
      after.getState({ configurable: { ...ids, user_id: "mallory" } }),
    ).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
  });

  it("copyCheckpoints finishes an interrupted copy, and is idempotent", async () => {
    const from = new MemorySaver();
    const before = await conversations(from);
    const to = db.memory().checkpointer();
    const copy = {
      from,
      to,
      threadIds: ["trip"],
      scopeOf: () => ({ userId: "twice", tenantId: "acme" }),
    };
    let asked = 0;
    const counting = new Proxy(from, {
      get(target, key) {
        if (key === "getTuple" && ++asked === 4) throw new Error("enough");
        const value = Reflect.get(target, key);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await expect(copyCheckpoints({ ...copy, from: counting })).rejects.toThrow("enough");
    const first = await copyCheckpoints(copy);
    expect(await copyCheckpoints(copy)).toEqual(first);
    const ids = { thread_id: "trip", user_id: "twice", tenant_id: "acme" };
    expect(await historyOf(askingGraph(to), ids)).toEqual(
      await historyOf(before, { thread_id: "trip" }),
    );
  });
});
