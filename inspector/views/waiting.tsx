import type { ComponentChildren } from "preact";
import { ask, path } from "../api.js";
import type { Consent, Job, Memory } from "../api-types.js";
import { type Action, Choosable } from "../parts/actions.js";
import { Answer } from "../parts/asked.js";
import { useList } from "../parts/lists.js";
import { Pages } from "../parts/pages.js";
import { Head, MemoryLink, Tag, When, Words } from "../parts/texts.js";
import { nameOf, type Place, paramsOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { JobList } from "./jobs.js";
import { actionsOf } from "./memory-actions.js";

/** Rows of a page of each list. */
const limit = 25;

/** What failed, then what waits: for the user's consent, for an operator, for a worker. */
export function Waiting({ place, isOperator }: ViewProps) {
  return (
    <section aria-label="Waiting">
      <Head title="Waiting" />
      {isOperator && <Jobs state="failed" title="Failed work" place={place} />}
      <div class={isOperator ? "halves" : ""}>
        <Consents place={place} />
        {isOperator && <Quarantine place={place} />}
      </div>
      {isOperator && (
        <div class="halves">
          <Jobs state="waiting" title="Due work" place={place} />
          <Jobs state="running" title="Running work" place={place} />
        </div>
      )}
    </section>
  );
}

function Jobs({ state, title, place }: Readonly<{ state: string; title: string; place: Place }>) {
  const name = `jobs-${state}`;
  const asked = useList<Job>("jobs", place.params, { limit, state, cursor: place.params[name] });
  return (
    <section class="card" aria-labelledby={name}>
      <h2 id={name}>{title}</h2>
      <Answer asked={asked} missing="This server does not list its work.">
        {({ rows, next }) => (
          <>
            {rows.length === 0 && <p class="note">None.</p>}
            <JobList jobs={rows} canRetry={state === "failed"} again={asked.again} />
            <Pages place={place} next={next} name={name} />
          </>
        )}
      </Answer>
    </section>
  );
}

/** Rows that wait for a decision, each with its buttons. */
function Decisions<Row extends { readonly id: string; readonly text: string }>({
  rows,
  actions,
  none,
  again,
  children,
}: Readonly<{
  rows: readonly Row[];
  actions: (row: Row) => readonly Action<Row>[];
  none: string;
  again: () => void;
  children: (row: Row) => ComponentChildren;
}>) {
  if (rows.length === 0) return <p class="note">{none}</p>;
  return (
    <Choosable rows={rows} actionsOf={actions} again={again}>
      {(box, buttons) => (
        <ul class="rows">
          {rows.map((row) => (
            <li key={row.id} class="memory">
              {rows.length > 1 && box(row)}
              {children(row)}
              {buttons(row)}
            </li>
          ))}
        </ul>
      )}
    </Choosable>
  );
}

const decide = (decision: "approve" | "refuse") => (consent: Consent, reason: string) =>
  ask(path`consents/${consent.id}/decision`, {
    ...{ method: "POST", whose: paramsOf(consent.scope), revision: consent.revision, body: { decision, reason } },
  });
const decisions: readonly Action<Consent>[] = [
  { does: "Approve", about: "In the user's name: it is written as a memory.", of: decide("approve") },
  { does: "Refuse", danger: true, about: "In the user's name: it is not written.", of: decide("refuse") },
];

function Consents({ place }: Readonly<{ place: Place }>) {
  const { consents: cursor } = place.params;
  const asked = useList<Consent>("consents", place.params, { limit, status: "pending", cursor });
  return (
    <section class="card" aria-labelledby="consents">
      <h2 id="consents">Requests for consent</h2>
      <Answer asked={asked}>
        {({ rows, next }) => (
          <>
            <Decisions
              rows={rows}
              none="No request waits for a user's consent."
              actions={() => decisions}
              again={asked.again}
            >
              {({ text, rule, scope, category, key, current, createdAt, expiresAt }) => (
                <>
                  <p dir="auto">
                    <Words text={text} />
                  </p>
                  <p class="faint">
                    <Tag of={rule === "signals" ? "waits for a second signal" : "waits for consent"} tone="waiting" />{" "}
                    {nameOf(paramsOf(scope))} · {category}
                    {key !== null && ` · ${key}`} {current !== null && <bdi>· now: {current.slice(0, 200)}</bdi>} ·
                    asked <When at={createdAt} />, expires <When at={expiresAt} />
                  </p>
                </>
              )}
            </Decisions>
            <Pages place={place} next={next} name="consents" />
          </>
        )}
      </Answer>
    </section>
  );
}

function Quarantine({ place }: Readonly<{ place: Place }>) {
  const { quarantine: cursor } = place.params;
  const asked = useList<Memory>("memories", place.params, { limit, states: "quarantined", cursor });
  return (
    <section class="card" aria-labelledby="quarantine">
      <h2 id="quarantine">Quarantine</h2>
      <Answer asked={asked}>
        {({ rows, next }) => (
          <>
            <Decisions
              rows={rows}
              none="Nothing reads as instructions to a model."
              actions={actionsOf}
              again={asked.again}
            >
              {({ id, scope, text, origin, createdAt }) => (
                <>
                  <p dir="auto">
                    <MemoryLink id={id} whose={paramsOf(scope)} text={text.slice(0, 1_000)} />
                  </p>
                  <p class="faint">
                    {nameOf(paramsOf(scope))} · from {origin} · <When at={createdAt} />
                  </p>
                </>
              )}
            </Decisions>
            <Pages place={place} next={next} name="quarantine" />
          </>
        )}
      </Answer>
    </section>
  );
}
