import type { BaseCheckpointSaver } from "@langchain/langgraph";
import {
  Annotation,
  DeltaChannel,
  END,
  interrupt,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";

const append = Annotation<string[]>({
  reducer: (all, more) => [...all, ...more],
  default: () => [],
});
const Inner = Annotation.Root({ input: Annotation<string>(), log: append });
const Counted = Annotation.Root({ input: Annotation<string>(), runs: append, log: append });
const Outer = Annotation.Root({
  input: Annotation<string>(),
  log: append,
  trail: () =>
    new DeltaChannel<string[], string[]>((all, writes) => [...(all ?? []), ...writes.flat()], {
      snapshotFrequency: 3,
    }),
  item: Annotation<string>(),
});

/**
 * A graph with everything that checkpoints can hold: a delta channel, joined branches, sends,
 * subgraphs with and without a state of their own, an interrupt on the input "ask", a failure on
 * "fail".
 */
export function travelGraph(checkpointer: BaseCheckpointSaver) {
  const inner = new StateGraph(Inner)
    .addNode("first", ({ input }) => ({ log: [`inner ${input}`] }))
    .addNode("second", ({ input }) => {
      const answer = input === "ask" ? interrupt("Sure?") : "unasked";
      return { log: [`answer ${answer}`] };
    })
    .addEdge(START, "first")
    .addEdge("first", "second")
    .compile();
  const counter = new StateGraph(Counted)
    .addNode("count", ({ input, runs }) => ({ runs: [input], log: [`run ${runs.length + 1}`] }))
    .addEdge(START, "count")
    .compile({ checkpointer: true });
  return new StateGraph(Outer)
    .addNode("start", ({ input }) => ({ trail: [`${input} started`] }))
    .addNode("left", ({ input }) => ({ log: [`left ${input}`], trail: ["left"] }))
    .addNode("right", ({ input }) => ({ log: [`right ${input}`] }))
    .addNode("joined", ({ input, log }) => {
      if (input === "fail") throw new Error("as told");
      return { log: [`joined after ${log.length}`] };
    })
    .addNode("worker", ({ item }) => ({ log: [`worked on ${item}`] }))
    .addNode(
      "inner",
      async ({ input }, config) => ({ log: (await inner.invoke({ input }, config)).log }),
      {
        subgraphs: [inner],
      },
    )
    .addNode(
      "counter",
      async ({ input }, config) => ({
        log: (await counter.invoke({ input }, config)).log.slice(-1),
      }),
      { subgraphs: [counter] },
    )
    .addNode("last", () => ({ trail: ["ended"] }))
    .addEdge(START, "start")
    .addEdge("start", "left")
    .addEdge("start", "right")
    .addEdge(["left", "right"], "joined")
    .addConditionalEdges("joined", ({ input }) => [
      new Send("worker", { item: `${input} 1` }),
      new Send("worker", { item: `${input} 2` }),
      "inner",
    ])
    .addEdge("inner", "counter")
    .addEdge("counter", "last")
    .addEdge("last", END)
    .compile({ checkpointer });
}
