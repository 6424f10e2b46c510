import { useState } from "preact/hooks";
import { ask } from "../api.js";
import type { Job } from "../api-types.js";
import { DoButton } from "../parts/do-button.js";
import { Rows, ThreadLink } from "../parts/layout.js";
import { useAgain } from "../parts/query.js";
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

/** Background work, and what can be done about it. */
export function JobList({ jobs }: { jobs: readonly Job[] }) {
  const again = useAgain();
  const failed = jobs.filter(({ state }) => state === "failed");
  const [retried, setRetried] = useState(0);
  const [pausedUntil, setPausedUntil] = useState<string | null>(null);
  const retry = (chosen: readonly Job[]) => async () => {
    try {
      for (const { id } of chosen) {
        const done = await ask("/jobs/:id/retry", { method: "post", ids: { id }, body: {} });
        setPausedUntil(done.pausedUntil);
      }
      setRetried(retried + chosen.length);
    } finally {
      again();
    }
  };
  return (
    <>
      {retried > 0 && (
        <p role="status">
          {counted(retried, "job is", "jobs are")} due again. A worker takes it up, or{" "}
          <code>npx @mnemograph/server upkeep --model MODULE</code>; what fails again is listed
          again.
          {pausedUntil && (
            <>
              {" "}
              The model is not called until <When at={pausedUntil} withTime />.
            </>
          )}
        </p>
      )}
      {failed.length > 1 && (
        <DoButton does={`Try all ${failed.length} again`} act={retry(failed)} />
      )}
      <Rows rows={jobs}>{(job) => <JobRow key={job.id} job={job} retry={retry([job])} />}</Rows>
    </>
  );
}

function JobRow({ job, retry }: { job: Job; retry: () => Promise<void> }) {
  const { kind, state, scope, threadId, error, detail } = job;
  const owner = <bdi>{nameOf(scope)}</bdi>;
  return (
    <li class="job">
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
      {state === "failed" && <DoButton does="Try again" act={retry} />}
    </li>
  );
}
