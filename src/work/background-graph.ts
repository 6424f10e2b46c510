import { CallbackManager } from "@langchain/core/callbacks/manager";
import {
  Annotation,
  type CompiledStateGraph,
  END,
  type LastValue,
  START,
  StateGraph,
  type StateType,
  type UpdateType,
} from "@langchain/langgraph";
import { asTenant, currentTenancy } from "../postgres/isolation.js";
import type { guardedSteps, JobState } from "./job-steps.js";
import type { LoadedWork, WorkDefinition } from "./work-definition.js";

type Channels<Fields> = { [Field in keyof Fields]: LastValue<Fields[Field]> };
type GraphState<Found, Made> = Channels<JobState<Found> & Made>;

export type BackgroundGraph<Found, Made> = CompiledStateGraph<
  StateType<GraphState<Found, Made>>,
  UpdateType<GraphState<Found, Made>>,
  string,
  GraphState<Found, Made>,
  GraphState<Found, Made>
>;

export const isTraced = (): boolean => CallbackManager.configure() !== undefined;

/** The graph of one kind of work: load → ask → check → save → follow. */
export function backgroundGraph<Found extends LoadedWork, Made extends object>(
  { kind, fresh, steps }: WorkDefinition<Found, Made>,
  { load, ask, check, save, follow }: ReturnType<typeof guardedSteps<Found, Made>>,
): BackgroundGraph<Found, Made> {
  type State = JobState<Found> & Made;
  const shared = ["claim", "threadId", "scope", "work", "error", "status", "reason"] as const;
  const fields = [...shared, ...Object.keys(fresh)];
  const channels = Object.fromEntries(fields.map((field) => [field, Annotation<unknown>()]));
  const node = (run: (state: State) => Promise<Partial<State>>) => (state: unknown) => {
    const { scope } = state as Partial<State>;
    const work = () => run(state as State);
    return currentTenancy() === undefined && scope ? asTenant(scope.tenantId, work) : work();
  };
  const graph = new StateGraph(Annotation.Root(channels))
    .addNode("load", node(load as never))
    .addNode("ask", node(ask as never))
    .addNode("check", node(check as never))
    .addNode("save", node(save as never))
    .addEdge(START, "load")
    .addConditionalEdges("load", ({ work }) => (work ? "ask" : END), ["ask", END])
    .addEdge("ask", "check")
    .addEdge("check", "save");
  const next = steps.follow?.name ?? END;
  if (steps.follow) graph.addNode(next, node(follow as never)).addEdge(next as never, END);
  const compiled = graph
    .addConditionalEdges("save", ({ status }) => (status === "completed" ? next : END), [
      next,
      END,
    ] as never)
    .compile({ checkpointer: false, name: kind });
  return compiled as unknown as BackgroundGraph<Found, Made>;
}
