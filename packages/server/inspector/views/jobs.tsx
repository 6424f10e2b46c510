import { useState } from "preact/hooks";
import { ask } from "../api.js";
import type { Job } from "../api-types.js";
import { Rows, ThreadLink } from "../parts/layout.js";
import { ErrorNotice, useAgain } from "../parts/query.js";
import { counted, Tag, titleOf, When, Words } from "../parts/texts.js";
import { paramsOf, scopeName } from "../place.js";

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
  const [error, setError] = useState<Error | null>(null);
  const [retried, setRetried] = useState(0);
  const retry = async (chosen: readonly Job[]) => {
    setError(null);
    try {
      for (const { id } of chosen)
        await ask("/jobs/:id/retry", { method: "post", ids: { id }, body: {} });
      setRetried(retried + chosen.length);
    } catch (failure) {
      setError(failure as Error);
    }
    again();
  };
  return (
    <>
      {error && <ErrorNotice error={error} />}
      {retried > 0 && (
        <p role="status" class="done">
          {counted(retried, "job is", "jobs are")} due again. A worker takes it up, or{" "}
          <code>npx @mnemograph/server upkeep --model MODULE</code>; what fails again is listed
          again.
        </p>
      )}
      {failed.length > 1 && (
        <button type="button" onClick={() => void retry(failed)}>
          Try all {failed.length} again
        </button>
      )}
      <Rows rows={jobs}>
        {(job) => <JobRow key={job.id} job={job} retry={() => void retry([job])} />}
      </Rows>
    </>
  );
}

function JobRow({ job, retry }: { job: Job; retry: () => void }) {
  const { kind, state, scope, threadId, error, detail } = job;
  const owner = <bdi>{scopeName(scope)}</bdi>;
  return (
    <li class="job">
      <p>
        <strong>{titleOf(kind)}</strong>{" "}
        {threadId === null ? (
          owner
        ) : (
          <ThreadLink owner={paramsOf(scope)} thread={threadId}>
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
      {state === "failed" && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </li>
  );
}
