import type { ComponentChildren } from "preact";
import { ask, path } from "../api.js";
import type { Consent, Job, Memory, Source } from "../api-types.js";
import { type Action, Choosable } from "../parts/actions.js";
import { Answer } from "../parts/asked.js";
import { useList } from "../parts/lists.js";
import { Pages } from "../parts/pages.js";
import { Head, MemoryLink, Tag, When, Words } from "../parts/texts.js";
import { hrefOf, nameOf, type Params, type Place, paramsOf } from "../place.js";
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

/** A page of a list, with its title. */
function Listed<Row>({
  path,
  where,
  name,
  title,
  none = "None.",
  showsNone = false,
  place,
  children,
}: Readonly<{
  path: "jobs" | "consents" | "memories";
  where: Readonly<Record<string, string>>;
  /** Also the param that its pages begin with. */
  name: string;
  title: string;
  none?: string;
  /** Whether `children` show an empty list too, as what was done to it. */
  showsNone?: boolean;
  place: Place;
  children: (rows: readonly Row[], again: () => void) => ComponentChildren;
}>) {
  const asked = useList<Row>(path, place.params, { limit, ...where, after: place.params[name] });
  return (
    <section class="card" aria-labelledby={name}>
      <h2 id={name}>
        <span>
          {title}{" "}
          {asked.value && asked.value.rows.length > 0 && (
            <Tag of={`${asked.value.rows.length}${asked.value.next === null ? "" : "+"}`} />
          )}
        </span>
      </h2>
      <Answer asked={asked} missing="This server does not list its work.">
        {({ rows, next }) => (
          <>
            {rows.length === 0 && <p class="note">{none}</p>}
            {(rows.length > 0 || showsNone) && children(rows, asked.again)}
            <Pages place={place} next={next} name={name} />
          </>
        )}
      </Answer>
    </section>
  );
}

function Jobs({ state, title, place }: Readonly<{ state: string; title: string; place: Place }>) {
  const of = `${title} of ${nameOf(place.params) || "everybody"}`;
  return (
    <Listed<Job>
      path="jobs"
      where={{ state }}
      name={`jobs-${state}`}
      title={of}
      place={place}
      showsNone
    >
      {(jobs, again) => <JobList jobs={jobs} canRetry={state === "failed"} again={again} />}
    </Listed>
  );
}

/** Rows that wait for a decision, each with its buttons. */
function Decisions<Row extends { readonly id: string; readonly text: string }>({
  rows,
  actions,
  again,
  children,
}: Readonly<{
  rows: readonly Row[];
  actions: (row: Row) => readonly Action<Row>[];
  again: () => void;
  children: (row: Row) => ComponentChildren;
}>) {
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
    ...{
      method: "POST",
      whose: paramsOf(consent.scope),
      revision: consent.revision,
      body: { decision, reason },
    },
  });
const decisions: readonly Action<Consent>[] = [
  {
    does: "Approve",
    about: "In the user's name: it is written as a memory.",
    of: decide("approve"),
  },
  {
    does: "Refuse",
    danger: true,
    about: "In the user's name: it is not written.",
    of: decide("refuse"),
  },
];

function Consents({ place }: Readonly<{ place: Place }>) {
  const about = {
    name: "consents",
    title: "Requests for consent",
    none: "No request waits for a user's consent.",
  };
  return (
    <Listed<Consent> path="consents" where={{ status: "pending" }} place={place} {...about}>
      {(consents, again) => (
        <Decisions rows={consents} actions={() => decisions} again={again}>
          {({ text, rule, scope, category, key, current, ...request }) => (
            <>
              <p dir="auto">
                <Words text={text} />
              </p>
              <p class="faint">
                <Tag
                  of={rule === "signals" ? "waits for a second signal" : "waits for consent"}
                  tone="waiting"
                />{" "}
                {nameOf(paramsOf(scope))} · {category}
                {key !== null && ` · ${key}`}{" "}
                {current !== null && <bdi>· now: {current.slice(0, 200)}</bdi>} · asked{" "}
                <When at={request.createdAt} />, expires <When at={request.expiresAt} />
              </p>
              <Ground source={request.source} whose={paramsOf(scope)} by={request.proposedBy} />
            </>
          )}
        </Decisions>
      )}
    </Listed>
  );
}

/** The words a request was understood from, where they were said, and who proposed it. */
function Ground({
  source,
  whose,
  by,
}: Readonly<{ source: Source | null; whose: Params; by: string | null }>) {
  const at = String(source?.seqs[0] ?? "");
  const thread = source?.threadId ?? "";
  return (
    <>
      {source?.quote && (
        <blockquote dir="auto">
          <Words text={source.quote} most={500} />
        </blockquote>
      )}
      <p class="faint">
        {source && (
          <a href={hrefOf({ view: "thread", params: { ...whose, thread, around: at, at } })}>
            <bdi>{thread}</bdi>
            {at !== "" && `, message ${source.seqs.join(", ")}`}
          </a>
        )}
        {source && by !== null && " · "}
        {by !== null && (
          <>
            proposed by <bdi>{by}</bdi>
          </>
        )}
        {!source && by === null && "No message is named as its ground."}
      </p>
    </>
  );
}

function Quarantine({ place }: Readonly<{ place: Place }>) {
  const about = {
    name: "quarantine",
    title: "Quarantine",
    none: "Nothing reads as instructions to a model.",
  };
  return (
    <Listed<Memory> path="memories" where={{ states: "quarantined" }} place={place} {...about}>
      {(memories, again) => (
        <Decisions rows={memories} actions={actionsOf} again={again}>
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
      )}
    </Listed>
  );
}
