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
import { guardedSteps, type JobInput, type JobState, type JobSteps, runSteps } from "./job-steps.js";
import type { JobRuntime } from "./jobs-options.js";
import type { Lease } from "./lease.js";
import type { JobAddress } from "./settle-failure.js";

type Channels<Fields> = { [Field in keyof Fields]: LastValue<Fields[Field]> };
type GraphState<Claim, Work, Made> = Channels<JobState<Claim, Work> & Made>;

/** A graph of background work, compiled. */
type BackgroundGraph<Claim, Work, Made> = CompiledStateGraph<
  StateType<GraphState<Claim, Work, Made>>,
  UpdateType<GraphState<Claim, Work, Made>>,
  string,
  GraphState<Claim, Work, Made>,
  GraphState<Claim, Work, Made>
>;

/** A kind of background work. */
export interface BackgroundJob<Claim, Work, Made> {
  /** For those who call it, mount it, or look at it in Studio. It keeps no checkpoints: the row of its claim is its record. */
  readonly graph: BackgroundGraph<Claim, Work, Made>;
  /** Does one piece of it; returns what the graph would. */
  run(input: JobInput<Claim>): Promise<JobState<Claim, Work> & Made>;
}

/** One kind of background work, as a graph whose nodes are its steps, and as those steps one after the other. */
export function backgroundJob<Claim extends Lease, Work extends JobAddress, Made extends object>(
  deps: JobRuntime,
  steps: JobSteps<Claim, Work, Made>,
): BackgroundJob<Claim, Work, Made> {
  const guarded = guardedSteps(deps, steps);
  const graph = graphOf(steps, guarded);
  const traced = async (input: JobInput<Claim>) =>
    (await graph.invoke(input as Parameters<typeof graph.invoke>[0])) as JobState<Claim, Work> & Made;
  return {
    graph,
    // A run of a graph takes as much time as all statements of a short job together, and only a trace shows that it was one.
    run: (input) => (isTraced() ? traced(input) : runSteps(guarded, input)),
  };
}

/** Whether runs of this process are traced, as by LangSmith. */
function isTraced(): boolean {
  return CallbackManager.configure() !== undefined;
}

/** load → make, under the name of its step → validate → save, and then what follows from it. */
function graphOf<Claim extends Lease, Work extends JobAddress, Made extends object>(
  steps: JobSteps<Claim, Work, Made>,
  { load, make, validate, save, follow }: ReturnType<typeof guardedSteps<Claim, Work, Made>>,
): BackgroundGraph<Claim, Work, Made> {
  type State = JobState<Claim, Work> & Made;
  const fields = ["claim", "threadId", "scope", "work", ...Object.keys(steps.fresh), "error", "status"];
  const channels = Object.fromEntries(fields.map((field) => [field, Annotation<unknown>()]));
  // Workers have said whose rows they see; a caller's run sees those of the scope it names.
  const node = (run: (state: State) => Promise<Partial<State>>) => (state: unknown) => {
    const { scope } = state as Partial<State>;
    const work = () => run(state as State);
    return currentTenancy() === undefined && scope ? asTenant(scope.tenantId, work) : work();
  };
  const graph = new StateGraph(Annotation.Root(channels))
    .addNode("load", node(load as never))
    .addNode(steps.step, node(make as never))
    .addNode("validate", node(validate as never))
    .addNode("save", node(save as never))
    .addEdge(START, "load")
    .addConditionalEdges("load", ({ work }) => (work ? steps.step : END), [steps.step, END])
    .addEdge(steps.step, "validate")
    .addEdge("validate", "save");
  const next = steps.follow?.name ?? END;
  if (steps.follow) graph.addNode(next, node(follow as never)).addEdge(next as never, END);
  const compiled = graph
    .addConditionalEdges("save", ({ status }) => (status === "completed" ? next : END), [next, END] as never)
    .compile({ checkpointer: false, name: steps.name });
  return compiled as unknown as BackgroundGraph<Claim, Work, Made>;
}
