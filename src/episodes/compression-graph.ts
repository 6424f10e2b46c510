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
import type { Scope } from "../scope/scope.js";
import { type EpisodesRuntime, episodeText } from "./episode-text.js";
import { type EpisodeWork, loadCompression } from "./load-compression.js";
import { makeEpisode } from "./make-episode.js";
import { saveEpisode } from "./save-episode.js";

const CompressionState = Annotation.Root({
  /** A claimed thread. Without one, the thread named by `threadId` and `scope` is looked at now. */
  claim: Annotation<ThreadTaskClaim | null>,
  threadId: Annotation<string>,
  scope: Annotation<Scope>,
  work: Annotation<EpisodeWork | null>,
  /** The episode: as the model wrote it, then as it is stored. */
  episode: Annotation<string | null>,
  /** Whether the model wrote more than an episode may hold. */
  trimmed: Annotation<boolean>,
  memoryId: Annotation<string | null>,
  error: Annotation<Failure | null>,
  status: Annotation<TaskStatus>,
});

type State = typeof CompressionState.State;
type Update = typeof CompressionState.Update;

/**
 * The graph that compresses a thread's older turns into an episode, when it is time: load → compress → validate
 * → save.
 *
 * It keeps no checkpoints, since the `thread_task` row is its record, and holds no connection while the model
 * works.
 */
export function createCompressionGraph(deps: EpisodesRuntime) {
  return new StateGraph(CompressionState)
    .addNode("load", (state) => load(deps, state))
    .addNode("compress", (state) => attemptStep(() => compress(deps, state)))
    .addNode("validate", (state) => attemptStep(() => validate(state)))
    .addNode("save", (state) => save(deps, state))
    .addEdge(START, "load")
    .addConditionalEdges("load", (state) => (state.work ? "compress" : END), ["compress", END])
    .addEdge("compress", "validate")
    .addEdge("validate", "save")
    .addEdge("save", END)
    .compile({ checkpointer: false, name: "compression" });
}

async function load(deps: EpisodesRuntime, state: State): Promise<Update> {
  // Before anything is claimed: without a model nothing can be done.
  deps.model();
  const fresh: Update = { work: null, episode: null, trimmed: false, memoryId: null, error: null };
  const claim = state.claim ?? (await claimThread(deps, { ...state, task: "compress" }));
  if (!claim) return { ...fresh, claim: null, status: "skipped" };
  const work = await loadCompression(deps, claim).catch((cause) =>
    settleUnread(deps, claim, toFailure(cause)),
  );
  if (typeof work === "string") return { ...fresh, claim, status: work };
  const error = claim.attempt > deps.config.upkeep.maxFailures ? workerStopped : null;
  return { ...fresh, claim, work, error };
}

async function compress(deps: EpisodesRuntime, { claim, work, error }: State): Promise<Update> {
  if (!claim || !work || error) return {};
  return { episode: await makeEpisode(deps, work, () => renewLease(deps, claim)) };
}

async function validate({ episode, error }: State): Promise<Update> {
  if (error || episode === null) return {};
  const text = episodeText(episode);
  return { episode: text, trimmed: text.length < episode.trim().length };
}

async function save(deps: EpisodesRuntime, state: State): Promise<Update> {
  const { claim, work, episode, trimmed, error } = state;
  if (!claim || !work) return { status: "lost" };
  if (error || episode === null) return { status: await fail(deps, claim, work, error ?? noEpisode) };
  try {
    const memoryId = await saveEpisode(deps, { claim, work, text: episode, trimmed });
    return { memoryId, status: "completed" };
  } catch (cause) {
    return { status: await fail(deps, claim, work, toFailure(cause)) };
  }
}

const noEpisode: Failure = {
  code: "UNEXPECTED",
  message: "The graph ended without an episode.",
  words: null,
  output: null,
};

async function fail(
  deps: EpisodesRuntime,
  claim: ThreadTaskClaim,
  { scope, threadId, turns, messages, more }: EpisodeWork,
  failure: Failure,
): Promise<TaskStatus> {
  if (failure.code === "LEASE_LOST") return "lost";
  const [startSeq = 0, endSeq = startSeq] = [messages[0]?.seq, messages.at(-1)?.seq];
  const task = { claim, scope, threadId, startSeq, endSeq, after: { doneUntil: turns.end, more } };
  return settleFailure(deps, task, failure);
}
