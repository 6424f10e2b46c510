import { useState } from "preact/hooks";
import { ask, path } from "../api.js";
import type { Job } from "../api-types.js";
import { Trouble } from "../parts/asked.js";
import { counted, Tag, titleOf, toneOf, When, Words } from "../parts/texts.js";
import { hrefOf, nameOf, paramsOf } from "../place.js";

/** Whether a job that failed is due once more. */
const isDueAgain = ({ state, dueAt }: Job) =>
  state === "failed" && dueAt !== null && Date.parse(dueAt) <= Date.now();

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
      {retried > 0 && <p role="status">{counted(retried, "job is", "jobs are")} due again.</p>}
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
              {job.attempts === null ? "given up" : counted(job.attempts, "attempt")} ·{" "}
              <When at={job.givenUpAt ?? job.dueAt} />
            </p>
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
