import { ask, path } from "../api.js";
import type { Consent, Job, Memory } from "../api-types.js";
import { type Change, useAskFirst } from "../parts/ask-first.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Pages } from "../parts/pages.js";
import { eachOf, useSelection } from "../parts/selection.js";
import { counted, Head, Tag, When, Words } from "../parts/texts.js";
import { hrefOf, nameOf, type Place, paramsOf, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { JobList } from "./jobs.js";
import { approve, reject } from "./memory-actions.js";

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

/** A list that goes on by a cursor of its own. */
function useList<Row>(path: string, name: string, place: Place, query: Readonly<Record<string, string>>) {
  const cursor = place.params[name];
  // Work is of a tenant, whoever is looked at.
  const whose = path === "jobs" ? whoseOf({ tenant: place.params.tenant ?? "" }) : whoseOf(place.params);
  return useAsked(
    async (signal) => {
      const page = await ask<Record<string, unknown>>(path, { whose, signal, query: { ...query, limit: 25, cursor } });
      return { rows: page[path] as readonly Row[], next: page.nextCursor as string | null };
    },
    [whose, query, cursor],
  );
}

function Jobs({ state, title, place }: Readonly<{ state: string; title: string; place: Place }>) {
  const name = `jobs-${state}`;
  const asked = useList<Job>("jobs", name, place, { state });
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

/** What waits for a decision, and buttons that decide one, or all that are ticked. */
function Decisions<Row extends { readonly id: string; readonly text: string }>({
  rows,
  decisions,
  none,
  again,
  children,
}: Readonly<{
  rows: readonly Row[];
  decisions: (rows: readonly Row[]) => readonly Change[];
  none: string;
  again: () => void;
  children: (row: Row) => preact.ComponentChildren;
}>) {
  const { chosen, box, boxOfAll, clear } = useSelection(rows, ({ text }) => text);
  const { ask: askFirst, dialog } = useAskFirst(() => {
    clear();
    again();
  });
  const buttons = (of: readonly Row[]) =>
    decisions(of).map((change) => (
      <button
        key={change.does}
        type="button"
        class={change.danger ? "danger" : undefined}
        onClick={() => askFirst(change)}
      >
        {change.does}
      </button>
    ));
  if (rows.length === 0) return <p class="note">{none}</p>;
  return (
    <>
      {rows.length > 1 && (
        <div class="buttons">
          {boxOfAll}
          {chosen.length > 0 && buttons(chosen)}
        </div>
      )}
      <ul class="rows">
        {rows.map((row) => (
          <li key={row.id} class="memory">
            {rows.length > 1 && box(row)}
            {children(row)}
            <div class="buttons">{chosen.length === 0 && buttons([row])}</div>
          </li>
        ))}
      </ul>
      {dialog}
    </>
  );
}

function About({ rows }: Readonly<{ rows: readonly { id: string; text: string }[] }>) {
  return (
    <ul class="lines">
      {rows.slice(0, 8).map(({ id, text }) => (
        <li key={id} dir="auto">
          <Words text={text} most={300} />
        </li>
      ))}
      {rows.length > 8 && <li class="faint">and {rows.length - 8} more</li>}
    </ul>
  );
}

function Consents({ place }: Readonly<{ place: Place }>) {
  const asked = useList<Consent>("consents", "consents", place, { status: "pending" });
  const decide =
    (rows: readonly Consent[]) =>
    (decision: "approve" | "refuse"): Change => {
      const does = decision === "approve" ? "Approve" : "Refuse";
      const who = rows.length === 1 ? "the user" : `the users: ${rows.length} requests`;
      return {
        ...{
          title: `${does} for ${who}`,
          does: rows.length === 1 ? does : `${does} ${rows.length}`,
          danger: decision === "refuse",
        },
        about: <About rows={rows} />,
        act: eachOf(rows, ({ id, scope, revision }, reason) =>
          ask(path`consents/${id}/decision`, {
            ...{ method: "POST", whose: paramsOf(scope), revision, body: { decision, reason } },
          }),
        ),
      };
    };
  return (
    <section class="card" aria-labelledby="consents">
      <h2 id="consents">Requests for consent</h2>
      <Answer asked={asked}>
        {({ rows, next }) => (
          <>
            <Decisions
              rows={rows}
              none="No request waits for a user's consent."
              decisions={(chosen) => (["approve", "refuse"] as const).map(decide(chosen))}
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
                    {key !== null && ` · ${key}`}
                    {current !== null && (
                      <>
                        {" "}
                        · now: <bdi>{current.slice(0, 200)}</bdi>
                      </>
                    )}{" "}
                    · asked <When at={createdAt} />, expires <When at={expiresAt} />
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
  const asked = useList<Memory>("memories", "quarantine", place, { states: "quarantined" });
  const decisions = (rows: readonly Memory[]): Change[] =>
    [approve, reject].map(({ does, danger, about, of }) => ({
      ...{
        title: `${does} ${counted(rows.length, "memory", "memories")}`,
        does: rows.length === 1 ? does : `${does} ${rows.length}`,
      },
      danger: danger ?? false,
      about: (
        <>
          {about}
          <About rows={rows} />
        </>
      ),
      act: eachOf(rows, (memory, reason) => of(memory)(reason)),
    }));
  return (
    <section class="card" aria-labelledby="quarantine">
      <h2 id="quarantine">Quarantine</h2>
      <Answer asked={asked}>
        {({ rows, next }) => (
          <>
            <Decisions
              rows={rows}
              none="Nothing reads as instructions to a model."
              decisions={decisions}
              again={asked.again}
            >
              {({ id, scope, text, origin, createdAt }) => (
                <>
                  <p dir="auto">
                    <a href={hrefOf({ view: "memory", params: { ...paramsOf(scope), id } })}>
                      <bdi>{text.slice(0, 1_000)}</bdi>
                    </a>
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
