import { ask, path } from "../api.js";
import type { Consent, Job, Memory, MemoryPage } from "../api-types.js";
import { type Change, useAskFirst } from "../parts/ask-first.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Pages } from "../parts/pages.js";
import { Tag, When, Words } from "../parts/texts.js";
import { hrefOf, type Place, paramsOf, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** What failed, then what waits: for the user's consent, for an operator, for a worker. */
export function Waiting({ place, isOperator }: ViewProps) {
  return (
    <>
      {isOperator && <Jobs state="failed" place={place} />}
      <Consents place={place} />
      {isOperator && <Quarantine place={place} />}
      {isOperator && ["waiting", "running"].map((state) => <Jobs key={state} state={state} place={place} />)}
    </>
  );
}

function Consents({ place }: { readonly place: Place }) {
  const whose = whoseOf(place.params);
  const { consents: cursor } = place.params;
  const asked = useAsked(
    (signal) =>
      ask<{ readonly consents: readonly Consent[]; readonly nextCursor: string | null }>("consents", {
        ...{ whose, signal, query: { status: "pending", limit: 25, cursor } },
      }),
    [whose, cursor],
  );
  const { ask: askFirst, dialog } = useAskFirst(asked.again);
  return (
    <section aria-labelledby="consents">
      <h2 id="consents">Consents</h2>
      <Answer asked={asked}>
        {({ consents, nextCursor }) => (
          <>
            {consents.length === 0 && <p class="note">No request waits for a user's consent.</p>}
            <ul class="cards">
              {consents.map((consent) => (
                <li key={consent.id}>
                  <p dir="auto">
                    <Words text={consent.text} />
                  </p>
                  <p class="faint">
                    <Tag of={consent.rule === "signals" ? "waits for a second signal" : "waits for consent"} />{" "}
                    {ownerOf(consent.scope)} · {consent.category}
                    {consent.key !== null && ` · ${consent.key}`}
                    {consent.current !== null && (
                      <>
                        {" "}
                        · now: <bdi>{consent.current.slice(0, 200)}</bdi>
                      </>
                    )}{" "}
                    · asked <When at={consent.createdAt} /> · until <When at={consent.expiresAt} />
                  </p>
                  <div class="buttons">
                    {(["approve", "refuse"] as const).map((decision) => (
                      <button key={decision} type="button" onClick={() => askFirst(decide(consent, decision))}>
                        {decision === "approve" ? "Approve" : "Refuse"}
                      </button>
                    ))}
                  </div>
                </li>
              ))}
            </ul>
            <Pages place={place} next={nextCursor} name="consents" />
          </>
        )}
      </Answer>
      {dialog}
    </section>
  );
}

function decide({ id, scope, revision, text }: Consent, decision: "approve" | "refuse"): Change {
  return {
    title: decision === "approve" ? "Approve for the user" : "Refuse for the user",
    does: decision === "approve" ? "Approve" : "Refuse",
    danger: decision === "refuse",
    about: (
      <p dir="auto">
        <Words text={text} most={500} />
      </p>
    ),
    act: (reason) =>
      ask(path`consents/${id}/decision`, {
        ...{ method: "POST", whose: paramsOf(scope), revision, body: { decision, reason } },
      }),
  };
}

function Quarantine({ place }: { readonly place: Place }) {
  const whose = whoseOf(place.params);
  const { quarantine: cursor } = place.params;
  const asked = useAsked(
    (signal) =>
      ask<MemoryPage>("memories", {
        ...{ whose, signal, query: { states: "quarantined", limit: 25, cursor } },
      }),
    [whose, cursor],
  );
  const { ask: askFirst, dialog } = useAskFirst(asked.again);
  return (
    <section aria-labelledby="quarantine">
      <h2 id="quarantine">Quarantine</h2>
      <Answer asked={asked}>
        {({ memories, nextCursor }) => (
          <>
            {memories.length === 0 && <p class="note">Nothing reads as instructions to a model.</p>}
            <ul class="cards">
              {memories.map((memory) => (
                <li key={memory.id}>
                  <p dir="auto">
                    <a href={hrefOf({ view: "memory", params: { ...paramsOf(memory.scope), id: memory.id } })}>
                      <bdi>{memory.text.slice(0, 1_000)}</bdi>
                    </a>
                  </p>
                  <p class="faint">
                    {ownerOf(memory.scope)} · from {memory.origin} · <When at={memory.createdAt} />
                  </p>
                  <div class="buttons">
                    <button type="button" onClick={() => askFirst(settle(memory, "approve"))}>
                      Approve
                    </button>
                    <button type="button" class="danger" onClick={() => askFirst(settle(memory, "reject"))}>
                      Reject
                    </button>
                  </div>
                </li>
              ))}
            </ul>
            <Pages place={place} next={nextCursor} name="quarantine" />
          </>
        )}
      </Answer>
      {dialog}
    </section>
  );
}

function settle({ id, scope, revision }: Memory, how: "approve" | "reject"): Change {
  const rejects = how === "reject";
  return {
    title: rejects ? "Delete it for good" : "Make it an ordinary memory",
    does: rejects ? "Reject" : "Approve",
    danger: rejects,
    about: <p>{rejects ? "The audit trail keeps what it was." : "Agents will be shown it, on your word."}</p>,
    act(reason) {
      const call = { whose: paramsOf(scope), revision };
      return rejects
        ? ask(path`memories/${id}`, { ...call, method: "DELETE", query: { reason } })
        : ask(path`memories/${id}/approve`, { ...call, method: "POST", body: { reason } });
    },
  };
}

function ownerOf(scope: Consent["scope"]): string {
  return [scope.tenantId, scope.userId, scope.appId].filter(Boolean).join(" / ");
}

const jobTitles: Readonly<Record<string, string>> = {
  ...{ failed: "Dead letters and failed work", waiting: "Due work", running: "Running work" },
};

function Jobs({ state, place }: { readonly state: string; readonly place: Place }) {
  const name = `jobs-${state}`;
  const cursor = place.params[name];
  const asked = useAsked(
    (signal) =>
      ask<{ readonly jobs: readonly Job[]; readonly nextCursor: string | null }>("jobs", {
        ...{ signal, query: { state, limit: 25, cursor } },
      }),
    [state, cursor],
  );
  const retry = async (id: string) => {
    await ask(path`jobs/${id}/retry`, { method: "POST", body: {} });
    asked.again();
  };
  return (
    <section aria-labelledby={name}>
      <h2 id={name}>{jobTitles[state]}</h2>
      <Answer asked={asked} missing="This server does not list its work.">
        {({ jobs, nextCursor }) => (
          <>
            {jobs.length === 0 ? (
              <p class="note">None.</p>
            ) : (
              <JobTable jobs={jobs} retry={state === "failed" ? retry : null} />
            )}
            <Pages place={place} next={nextCursor} name={name} />
          </>
        )}
      </Answer>
    </section>
  );
}

function JobTable({
  jobs,
  retry,
}: {
  readonly jobs: readonly Job[];
  readonly retry: ((id: string) => Promise<void>) | null;
}) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Work</th>
            <th>Of</th>
            <th class="number">Attempts</th>
            <th>Error</th>
            <th>Due</th>
            {retry && <th>Retry</th>}
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              <th scope="row">{job.kind}</th>
              <td>
                <bdi>{job.key ?? ""}</bdi>
              </td>
              <td class="number">{job.attempts ?? "given up"}</td>
              <td>
                <Words text={job.error ?? ""} most={200} />
              </td>
              <td>
                <When at={job.dueAt ?? job.givenUpAt} />
              </td>
              {retry && (
                <td>
                  <button type="button" onClick={() => void retry(job.id)}>
                    Retry
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
