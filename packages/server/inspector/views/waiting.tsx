import type { ComponentChildren } from "preact";
import { ask } from "../api.js";
import type { Consent, Consolidation } from "../api-types.js";
import { type Action, Choosable } from "../parts/ask-first.js";
import { Pages } from "../parts/filters.js";
import { Card, MemoryLink, Page, Rows, SourceLink } from "../parts/layout.js";
import { type Query, QueryResult, useAnswer } from "../parts/query.js";
import { Tag, When, Words } from "../parts/texts.js";
import { nameOf, useHere } from "../place.js";
import { JobList } from "./jobs.js";
import { actionsOf } from "./memory-actions.js";

/** Rows of a page of each list. */
const limit = 25;

/** What failed, then what waits: for the user's consent, for an operator, for a worker. */
export function Waiting() {
  const { isOperator } = useHere();
  return (
    <Page title="Waiting">
      {isOperator && <Jobs state="failed" title="Failed work" />}
      {isOperator && <Consolidations />}
      <div class={isOperator ? "halves" : ""}>
        <Consents />
        {isOperator && <Quarantine />}
      </div>
      {isOperator && (
        <div class="halves">
          <Jobs state="waiting" title="Pending work" />
          <Jobs state="running" title="Running work" />
        </div>
      )}
    </Page>
  );
}

/** A page of a list, with its title and how many rows it has. */
function Listed({
  page,
  rows,
  name,
  title,
  none = "None.",
  children,
}: {
  page: Query<{ nextCursor: string | null }>;
  rows: readonly unknown[];
  /** The param that its pages begin with. */
  name: string;
  title: string;
  none?: string;
  children: ComponentChildren;
}) {
  const more = page.value?.nextCursor === null ? "" : "+";
  return (
    <Card title={title} beside={rows.length > 0 && <Tag of={`${rows.length}${more}`} />}>
      <QueryResult query={page}>
        {({ nextCursor }) => (
          <>
            {rows.length === 0 && <p class="note">{none}</p>}
            {children}
            <Pages next={nextCursor} name={name} />
          </>
        )}
      </QueryResult>
    </Card>
  );
}

function Jobs({ state, title }: { state: string; title: string }) {
  const { owner, params } = useHere();
  const name = `jobs-${state}`;
  const page = useAnswer("/jobs", { query: { limit, state, after: params[name] } });
  const jobs = page.value?.jobs ?? [];
  const ownerName = nameOf(owner) || "everybody";
  return (
    <Listed page={page} rows={jobs} name={name} title={`${title} of ${ownerName}`}>
      <JobList jobs={jobs} />
    </Listed>
  );
}

const decide = (decision: "approve" | "refuse") => (consent: Consent, reason: string) =>
  ask("/consents/:id/decision", {
    method: "post",
    ids: { id: consent.id },
    owner: consent.scope,
    revision: consent.revision,
    body: { decision, reason },
  });
const decisions: readonly Action<Consent>[] = [
  {
    does: "Approve",
    key: "a",
    about:
      "In the user's name: it is written as a memory. The decision is final; the memory can be removed.",
    act: decide("approve"),
  },
  {
    does: "Refuse",
    key: "r",
    danger: true,
    about: "In the user's name: it is not written. The decision is final.",
    act: decide("refuse"),
  },
];

function Consents() {
  const after = useHere().params.consents;
  const page = useAnswer("/consents", { query: { limit, status: "pending", after } });
  const consents = page.value?.consents ?? [];
  return (
    <Listed
      page={page}
      rows={consents}
      name="consents"
      title="Requests for consent"
      none="No request waits for a user's consent."
    >
      <Choosable rows={consents} actionsOf={() => decisions} hasButtons>
        {(consent) => <Request {...consent} />}
      </Choosable>
    </Listed>
  );
}

/** A request: its statement, the words it was understood from, and who proposed it. */
function Request({ text, rule, scope, category, key, current, source, ...request }: Consent) {
  const { proposedBy } = request;
  return (
    <>
      <p dir="auto">
        <Words text={text} />
      </p>
      <p class="faint">
        <Tag
          of={rule === "signals" ? "waits for a second signal" : "waits for consent"}
          tone="waiting"
        />{" "}
        {nameOf(scope)} · {category}
        {key && ` · ${key}`} {current && <bdi>· now: {current.slice(0, 200)}</bdi>} · asked{" "}
        <When at={request.createdAt} />, expires <When at={request.expiresAt} />
      </p>
      {source?.quote && (
        <blockquote dir="auto">
          <Words text={source.quote} most={500} />
        </blockquote>
      )}
      <p class="faint">
        {source ? (
          <SourceLink owner={scope} source={source} />
        ) : (
          "No message is named as its ground"
        )}
        {proposedBy && (
          <>
            {" "}
            · proposed by <bdi>{proposedBy}</bdi>
          </>
        )}
      </p>
    </>
  );
}

/** A run, with what stands for it in a dialog. */
type Run = Consolidation & { readonly text?: string };

const decideRun =
  (decision: "apply" | "dismiss") =>
  ({ id, scope }: Run) =>
    ask("/consolidations/:id/decision", {
      method: "post",
      ids: { id },
      owner: scope,
      body: { decision },
    });
const runDecisions: readonly Action<Run>[] = [
  {
    does: "Apply",
    key: "a",
    danger: true,
    reason: false,
    about: "What changed since it was made stays. For 30 days the rest can be reverted.",
    act: decideRun("apply"),
    undo: ({ id, scope }) =>
      ask("/consolidations/:id/revert", { method: "post", ids: { id }, owner: scope, body: {} }),
  },
  {
    does: "Dismiss",
    key: "r",
    reason: false,
    about: "Nothing changes. This is final: these pairs are not compared again for 14 days.",
    act: decideRun("dismiss"),
  },
];

/** Runs of consolidation that would close many memories of an owner; no card without one. */
function Consolidations() {
  const runs = useAnswer("/consolidations", { query: { limit, status: "waiting" } });
  const rows: readonly Run[] = (runs.value?.consolidations ?? []).map((run) => ({
    ...run,
    text: `${nameOf(run.scope)} · ${run.merged.length} to merge, ${run.closed.length} to close`,
  }));
  if (rows.length === 0 && !runs.error) return null;
  return (
    <Card title="Consolidations that would close much">
      <QueryResult query={runs}>
        {() => (
          <Choosable rows={rows} actionsOf={() => runDecisions} hasButtons>
            {({ text, scope, createdAt, merged, closed }) => (
              <>
                <p class="faint">
                  <bdi>{text}</bdi> · <When at={createdAt} />
                </p>
                <Rows kind="lines" rows={[...merged, ...closed]}>
                  {({ id, text, verdict, kept }) => (
                    <li key={id} dir="auto">
                      <del>{text ?? "(no longer kept)"}</del> <Tag of={verdict} />{" "}
                      {kept && (
                        <MemoryLink id={kept.id} owner={scope}>
                          {kept.text ?? ""}
                        </MemoryLink>
                      )}
                    </li>
                  )}
                </Rows>
              </>
            )}
          </Choosable>
        )}
      </QueryResult>
    </Card>
  );
}

function Quarantine() {
  const after = useHere().params.quarantine;
  const page = useAnswer("/memories", { query: { limit, states: "quarantined", after } });
  const memories = page.value?.memories ?? [];
  return (
    <Listed
      page={page}
      rows={memories}
      name="quarantine"
      title="Quarantine"
      none="Nothing reads as instructions to a model."
    >
      <Choosable rows={memories} actionsOf={actionsOf} hasButtons>
        {({ id, scope, text, origin, createdAt }) => (
          <>
            <p dir="auto">
              <MemoryLink id={id} owner={scope}>
                {text.slice(0, 1_000)}
              </MemoryLink>
            </p>
            <p class="faint">
              {nameOf(scope)} · from {origin} · <When at={createdAt} />
            </p>
          </>
        )}
      </Choosable>
    </Listed>
  );
}
