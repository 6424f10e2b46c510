import { useState } from "preact/hooks";
import { ask, path } from "../api.js";
import type { Job } from "../api-types.js";
import { Trouble } from "../parts/asked.js";
import { counted, Tag, titleOf, toneOf, When, Words } from "../parts/texts.js";
import { hrefOf, nameOf, paramsOf } from "../place.js";

/** Whether a job that failed is due once more. */
const isDueAgain = ({ state, dueAt }: Job) =>
  state === "failed" && dueAt !== null && Date.parse(dueAt) <= Date.now();

/** What was tried, and when it is tried next. */
function Tries({ job: { state, attempts, triedAt, givenUpAt, dueAt } }: Readonly<{ job: Job }>) {
  if (givenUpAt !== null) {
    return (
      <>
        given up <When at={givenUpAt} withTime />, not tried again by itself
      </>
    );
  }
  const isFailed = state === "failed";
  return (
    <>
      {(attempts ?? 0) > 0 && `tried ${counted(attempts ?? 0, "time")}`}
      {triedAt !== null && isFailed && (
        <>
          , last <When at={triedAt} withTime />
        </>
      )}
      {(attempts ?? 0) > 0 && state !== "running" && "; "}
      {state === "running" && " running"}
      {state !== "running" &&
        (dueAt === null ? (
          "not tried again by itself"
        ) : (
          <>
            {isFailed ? "next try " : "due "} <When at={dueAt} withTime />
          </>
        ))}
    </>
  );
}

/** Background work, and what can be done about it. */
export function JobList({
  jobs,
  canRetry = false,
  again,
}: Readonly<{ jobs: readonly Job[]; canRetry?: boolean; again: () => void }>) {
  const [error, setError] = useState<Error | null>(null);
  const [retried, setRetried] = useState(0);
  const retry = async (chosen: readonly Job[]) => {
    setError(null);
    try {
      for (const { id } of chosen) await ask(path`jobs/${id}/retry`, { method: "POST", body: {} });
      setRetried(retried + chosen.length);
    } catch (failure) {
      setError(failure as Error);
    }
    again();
  };
  return (
    <>
      {error && <Trouble error={error} />}
      {retried > 0 && (
        <p role="status" class="done">
          {counted(retried, "job is", "jobs are")} due again. A worker takes it up, or{" "}
          <code>npx mnemograph upkeep --model MODULE</code>; what fails again is listed again.
        </p>
      )}
      {canRetry && jobs.length > 1 && (
        <button type="button" onClick={() => void retry(jobs)}>
          Try all {jobs.length} again
        </button>
      )}
      <ul class="rows">
        {jobs.map((job) => (
          <li key={job.id} class="job">
            <p>
              <strong>{titleOf(job.kind)}</strong>{" "}
              {job.threadId === null ? (
                <bdi>{nameOf(paramsOf(job.scope))}</bdi>
              ) : (
                <a
                  href={hrefOf({
                    view: "thread",
                    params: { ...paramsOf(job.scope), thread: job.threadId },
                  })}
                >
                  <bdi>{nameOf(paramsOf(job.scope))}</bdi>, <bdi>{job.threadId}</bdi>
                </a>
              )}{" "}
              <Tag of={job.state} tone={toneOf(job.state)} />{" "}
              {isDueAgain(job) && <Tag of="due again" tone="waiting" />}
            </p>
            <p class="faint">
              {job.error !== null && (
                <>
                  <Words text={job.error} most={300} /> ·{" "}
                </>
              )}
              <Tries job={job} />
            </p>
            {job.detail !== null && (
              <details class="faint">
                <summary>What the provider or the model said</summary>
                <Words text={job.detail} />
              </details>
            )}
            {canRetry && (
              <button type="button" onClick={() => void retry([job])}>
                Try again
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
