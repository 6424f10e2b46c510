import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { attemptStep } from "../jobs/attempt-step.js";
import {
  type Failure,
  renewLease,
  settleFailure,
  settleUnread,
  toFailure,
  workerStopped,
} from "../jobs/settle-failure.js";
import type { TaskStatus, ThreadTaskClaim } from "../jobs/thread-task.js";
import { claimThread } from "../jobs/thread-task-work.js";
import type { WriteOutcome } from "../memories/write/write-runtime.js";
import type { Scope } from "../scope/scope.js";
import { chooseFacts } from "./choose-facts.js";
import type { ChosenFact, FactCandidate, FactsRuntime, RejectedFact } from "./fact-candidate.js";
import { type ExtractionWork, limitExtraction } from "./find-extraction-work.js";
import { loadExtraction, proposeFacts } from "./propose-facts.js";
import { saveFacts } from "./save-facts.js";

const ExtractionState = Annotation.Root({
  /** A claimed thread. Without one, the facts of the thread named by `threadId` and `scope` are extracted now. */
  claim: Annotation<ThreadTaskClaim | null>,
  threadId: Annotation<string>,
  scope: Annotation<Scope>,
  work: Annotation<ExtractionWork | null>,
  /** What the model proposes. */
  candidates: Annotation<FactCandidate[]>,
  chosen: Annotation<ChosenFact[]>,
  rejected: Annotation<RejectedFact[]>,
  outcomes: Annotation<WriteOutcome[]>,
  error: Annotation<Failure | null>,
  status: Annotation<TaskStatus>,
});

type State = typeof ExtractionState.State;
type Update = typeof ExtractionState.Update;

/**
 * The graph that extracts the facts of what a thread's user said since the last time: load → extract → validate
 * → save.
 *
 * It keeps no checkpoints, since the `thread_task` row is its record, and holds no connection while the model
 * works. Only the user's own messages are material.
 */
export function createExtractionGraph(deps: FactsRuntime) {
  return new StateGraph(ExtractionState)
    .addNode("load", (state) => load(deps, state))
    .addNode("extract", (state) => attemptStep(() => extract(deps, state)))
    .addNode("validate", (state) => attemptStep(async () => validate(deps, state)))
    .addNode("save", (state) => save(deps, state))
    .addEdge(START, "load")
    .addConditionalEdges("load", (state) => (state.work ? "extract" : END), ["extract", END])
    .addEdge("extract", "validate")
    .addEdge("validate", "save")
    .addEdge("save", END)
    .compile({ checkpointer: false, name: "extraction" });
}

async function load(deps: FactsRuntime, state: State): Promise<Update> {
  // Before anything is claimed: without a model nothing can be done.
  deps.model();
  const fresh: Update = { work: null, candidates: [], chosen: [], rejected: [], outcomes: [], error: null };
  const claim = state.claim ?? (await claimThread(deps, { ...state, task: "extract" }));
  if (!claim) return { ...fresh, claim: null, status: "skipped" };
  const work = await loadExtraction(deps, claim).catch((cause) =>
    settleUnread(deps, claim, toFailure(cause)),
  );
  if (typeof work === "string") return { ...fresh, claim, status: work };
  const error = claim.attempt > deps.config.upkeep.maxFailures ? workerStopped : null;
  return { ...fresh, claim, work: await limitExtraction(deps, work, deps.config.upkeep), error };
}

async function extract(deps: FactsRuntime, { claim, work, error }: State): Promise<Update> {
  if (!claim || !work || error) return {};
  return { candidates: await proposeFacts(deps, work, () => renewLease(deps, claim)) };
}

function validate({ config }: FactsRuntime, { work, candidates, error }: State): Update {
  if (!work || error) return {};
  const { minConfidence, minImportance, writesPerTurn, writesPerDay } = config.memories;
  return chooseFacts(candidates, {
    policy: config.policy,
    messages: work.messages.map(({ text }) => text),
    known: work.known,
    minConfidence,
    minImportance,
    perMessage: writesPerTurn,
    inAll: Math.max(0, writesPerDay - work.writtenToday),
  });
}

async function save(deps: FactsRuntime, state: State): Promise<Update> {
  const { claim, work, chosen, rejected, error } = state;
  if (!claim || !work) return { status: "lost" };
  if (error) return { status: await fail(deps, claim, work, error) };
  try {
    return { outcomes: await saveFacts(deps, { claim, work, chosen, rejected }), status: "completed" };
  } catch (cause) {
    return { status: await fail(deps, claim, work, toFailure(cause)) };
  }
}

async function fail(
  deps: FactsRuntime,
  claim: ThreadTaskClaim,
  { scope, threadId, messages, more }: ExtractionWork,
  failure: Failure,
): Promise<TaskStatus> {
  if (failure.code === "LEASE_LOST") return "lost";
  const [startSeq = 0, endSeq = startSeq] = [messages[0]?.seq, messages.at(-1)?.seq];
  const task = { claim, scope, threadId, startSeq, endSeq, after: { doneUntil: endSeq, more } };
  return settleFailure(deps, task, failure);
}
