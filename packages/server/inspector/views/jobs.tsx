import { ask } from "../api.js";
import type { Job } from "../api-types.js";
import { type Action, Choosable } from "../parts/ask-first.js";
import { ThreadLink } from "../parts/layout.js";
import { counted, Tag, titleOf, When, Words } from "../parts/texts.js";
import { nameOf } from "../place.js";

/** Whether a job that failed is due once more. */
const isDueAgain = ({ state, dueAt }: Job) =>
  state === "failed" && dueAt !== null && Date.parse(dueAt) <= Date.now();

/** What was tried, and when it is tried next. */
function Tries({ job: { state, attempts, triedAt, givenUpAt, dueAt } }: { job: Job }) {
  if (givenUpAt !== null) {
    return (
      <>
        given up <When at={givenUpAt} withTime />, not tried again by itself
      </>
    );
  }
  const tried = attempts ? `tried ${counted(attempts, "time")}` : "";
  if (state === "running") return `${tried} running`;
  const isFailed = state === "failed";
  return (
    <>
      {tried}
      {isFailed && triedAt && (
        <>
          , last <When at={triedAt} withTime />
        </>
      )}
      {tried && "; "}
      {dueAt ? (
        <>
          {isFailed ? "next try " : "due "} <When at={dueAt} withTime />
        </>
      ) : (
        "not tried again by itself"
      )}
    </>
  );
}

/** A job in a few words. */
export const textOfJob = ({ kind, threadId, scope }: Job) =>
  `${titleOf(kind)} of ${threadId ?? nameOf(scope)}`;

/** A job, with what stands for it in a dialog. */
type JobInRow = Job & { readonly text?: string };

const retry: Action<JobInRow> = {
  does: "Try again",
  key: "a",
  reason: false,
  about:
    "It is due at once, or when a model that is left alone is called again: a worker takes it up, or `npx @mnemograph/server upkeep --model MODULE`. What fails again is listed again.",
  async act(job) {
    await ask("/jobs/:id/retry", { method: "post", ids: { id: job.id }, body: {} });
    return job;
  },
};
const dismiss: Action<JobInRow> = {
  does: "Dismiss",
  key: "r",
  danger: true,
  about:
    "It leaves this list, and nothing of it is done. This is final; an event keeps the reason.",
  act: ({ id }, reason) =>
    ask("/jobs/:id/dismiss", { method: "post", ids: { id }, body: { reason } }),
};

/** Only what was given up is not tried again by itself. */
function jobActionsOf({ state, givenUpAt }: JobInRow): readonly Action<JobInRow>[] {
  if (givenUpAt !== null) return [retry, dismiss];
  return state === "failed" ? [retry] : [];
}

/** Background work, and what can be done about it. */
export function JobList({ jobs }: { jobs: readonly Job[] }) {
  const rows: readonly JobInRow[] = jobs.map((job) => ({ ...job, text: textOfJob(job) }));
  return (
    <Choosable rows={rows} actionsOf={jobActionsOf} hasButtons>
      {(job) => <JobRow {...job} />}
    </Choosable>
  );
}

function JobRow(job: Job) {
  const { kind, state, scope, threadId, error, detail } = job;
  const owner = <bdi>{nameOf(scope)}</bdi>;
  return (
    <div class="job">
      <p>
        <strong>{titleOf(kind)}</strong>{" "}
        {threadId === null ? (
          owner
        ) : (
          <ThreadLink owner={scope} thread={threadId}>
            {owner}, <bdi>{threadId}</bdi>
          </ThreadLink>
        )}{" "}
        <Tag of={state} /> {isDueAgain(job) && <Tag of="due again" />}
      </p>
      <p class="faint">
        {error && (
          <>
            <Words text={error} most={300} /> ·{" "}
          </>
        )}
        <Tries job={job} />
      </p>
      {detail && (
        <details class="faint">
          <summary>What the provider or the model said</summary>
          <Words text={detail} />
        </details>
      )}
    </div>
  );
}
