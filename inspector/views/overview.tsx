import type { ComponentChildren } from "preact";
import { ask } from "../api.js";
import type { Consent, Job, Memory, Stats, Thread } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { DayChart } from "../parts/day-chart.js";
import { useList } from "../parts/lists.js";
import { count, counted, Head, Tag, titleOf, When } from "../parts/texts.js";
import { hrefOf, nameOf, type Params, paramsOf, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { ThreadRows } from "./threads.js";

/** Lines of each part. */
const [mostThreads, mostLearned, mostWaiting] = [6, 6, 3];
/** How many that wait are counted; beyond it, "99+". */
const mostCounted = 100;
const chartDays = 14;
const tokensPerUnit = 100;

/** What is going on: latest conversations, what waits, what was learned, and what recall took. */
export function Overview({ place, isOperator }: ViewProps) {
  const whose = whoseOf(place.params);
  const stats = useAsked(
    (signal) => ask<Stats>("stats", { whose, signal, query: { by: "day", days: chartDays } }),
    [whose],
  );
  const threads = useList<Thread>("threads", whose, { limit: mostThreads });
  const learned = useList<Memory>("memories", whose, { limit: mostLearned });
  return (
    <section aria-label="Overview">
      <Head title={nameOf(whose) || "Overview"}>
        <span class="faint">
          {new Date().toLocaleDateString("en-GB", {
            weekday: "long",
            day: "numeric",
            month: "long",
          })}
        </span>
      </Head>
      <Answer asked={stats}>{(found) => <Tiles stats={found} />}</Answer>
      <div class="split">
        <div>
          <Card title="Latest conversations" more={hrefOf({ view: "threads", params: whose })}>
            <Answer asked={threads}>{({ rows }) => <ThreadRows threads={rows} />}</Answer>
          </Card>
          <Card title="Recall over days">
            <Answer asked={stats}>{({ rows }) => <Charts rows={rows} />}</Answer>
          </Card>
        </div>
        <div>
          <Waits whose={whose} isOperator={isOperator} />
          <Card title="Learned last" more={hrefOf({ view: "memories", params: whose })}>
            <Answer asked={learned}>
              {({ rows }) => <Learned memories={rows} whose={whose} />}
            </Answer>
          </Card>
        </div>
      </div>
    </section>
  );
}

function Card({
  title,
  more,
  children,
}: Readonly<{ title: string; more?: string; children: ComponentChildren }>) {
  return (
    <section class="card">
      <h2>
        {title}
        {more !== undefined && <a href={more}>All →</a>}
      </h2>
      {children}
    </section>
  );
}

function Tiles({ stats: { rows, energy } }: Readonly<{ stats: Stats }>) {
  const today = rows.at(-1);
  const { recalls = 0, recallsWithMemory = 0, recallLatencyMs = null, writes = {} } = today ?? {};
  const changed = (writes.update ?? 0) + (writes.replace ?? 0) + (writes.merge ?? 0);
  const tiles = [
    [
      "Turns today",
      count(recalls),
      recalls > 0 ? `something new shown in ${count(recallsWithMemory)}` : "none yet",
    ],
    ["Learned today", count(writes.create ?? 0), `${counted(changed, "change")} to what was known`],
    [
      "Recall today",
      recallLatencyMs === null ? "–" : `${count(recallLatencyMs.p50)} ms`,
      recallLatencyMs === null
        ? "nothing timed yet"
        : `half of them; 95 of 100 within ${count(recallLatencyMs.p95)} ms`,
    ],
    [
      "Background work today",
      counted(energy.callsToday, "call"),
      `about ${count(energy.unitsToday * tokensPerUnit)} tokens; more under Cost`,
    ],
  ] as const;
  return (
    <dl class="tiles">
      {tiles.map(([name, figure, about]) => (
        <div key={name} class="card">
          <dt>{name}</dt>
          <dd class="figure">{figure}</dd>
          <dd class="faint">{about}</dd>
        </div>
      ))}
    </dl>
  );
}

function Charts({ rows }: Readonly<{ rows: Stats["rows"] }>) {
  if (rows.every(({ recalls }) => recalls === 0))
    return <p class="note">No recall in these {chartDays} days.</p>;
  return (
    <div class="charts">
      <div>
        <h3>Milliseconds</h3>
        <DayChart
          names={["half within", "95 of 100 within"]}
          rows={rows.map(({ day, recallLatencyMs: took }) => ({
            ...{ day, inner: took?.p50 ?? null, outer: took?.p95 ?? null },
          }))}
        />
      </div>
      <div>
        <h3>Turns</h3>
        <DayChart
          names={["shown something new", "all"]}
          rows={rows.map(({ day, recalls, recallsWithMemory }) => ({
            ...{
              day,
              inner: recalls === 0 ? null : recallsWithMemory,
              outer: recalls === 0 ? null : recalls,
            },
          }))}
        />
      </div>
    </div>
  );
}

function Learned({ memories, whose }: Readonly<{ memories: readonly Memory[]; whose: Params }>) {
  if (memories.length === 0) return <p class="note">Nothing yet.</p>;
  return (
    <ul class="rows">
      {memories.map(({ id, scope, text, category, createdAt }) => (
        <li key={id}>
          <a
            class="row plain"
            href={hrefOf({ view: "memory", params: { ...paramsOf(scope), id } })}
          >
            <bdi>{text.slice(0, 200)}</bdi>
          </a>
          <p class="faint">
            {category} · {nameOf(whose) === "" && `${nameOf(paramsOf(scope))} · `}
            <When at={createdAt} />
          </p>
        </li>
      ))}
    </ul>
  );
}

/** What waits for somebody: what failed first, then requests for consent, then quarantine. */
function Waits({ whose, isOperator }: Readonly<{ whose: Params; isOperator: boolean }>) {
  const to = hrefOf({ view: "waiting", params: whose });
  const name = ({ scope }: Pick<Memory, "scope">) => nameOf(paramsOf(scope));
  const memory = ({ id, scope }: Memory) =>
    hrefOf({ view: "memory", params: { ...paramsOf(scope), id } });
  const failed = (job: Job): Line => [
    to,
    `${titleOf(job.kind)} of ${job.threadId ?? name(job)}`,
    job.error ?? "",
  ];
  const asked = (request: Consent): Line => [to, request.text, name(request)];
  const held = (found: Memory): Line => [memory(found), found.text, name(found)];
  return (
    <Card title="Waits for you" more={to}>
      <p class="clear good">Nothing: all is done and decided.</p>
      {isOperator && (
        <Some
          of="jobs"
          where={{ state: "failed" }}
          name="Failed work"
          whose={whose}
          lineOf={failed}
        />
      )}
      <Some
        of="consents"
        where={{ status: "pending" }}
        name="Requests for consent"
        whose={whose}
        lineOf={asked}
      />
      {isOperator && (
        <Some
          of="memories"
          where={{ states: "quarantined" }}
          name="Quarantine"
          whose={whose}
          lineOf={held}
        />
      )}
    </Card>
  );
}

type Line = readonly [href: string, text: string, about: string];

/** How many there are of a list, and the first of them. */
function Some<Row extends { readonly id: string }>({
  of,
  where,
  name,
  whose,
  lineOf,
}: Readonly<{
  of: "jobs" | "consents" | "memories";
  where: Readonly<Record<string, string>>;
  name: string;
  whose: Params;
  lineOf: (row: Row) => Line;
}>) {
  const asked = useList<Row>(of, whose, { ...where, limit: mostCounted });
  const many = (rows: readonly Row[]) =>
    rows.length < mostCounted ? count(rows.length) : `${mostCounted - 1}+`;
  return (
    <Answer asked={asked} missing="">
      {({ rows }) =>
        rows.length > 0 && (
          <div class="waits">
            <h3>
              {name} <Tag of={many(rows)} tone={of === "jobs" ? "bad" : "waiting"} />
            </h3>
            <ul class="lines">
              {rows.slice(0, mostWaiting).map((row) => {
                const [href, text, about] = lineOf(row);
                return (
                  <li key={row.id}>
                    <a href={href}>
                      <bdi>{text.slice(0, 120)}</bdi>
                    </a>{" "}
                    <span class="faint">{about.slice(0, 80)}</span>
                  </li>
                );
              })}
            </ul>
          </div>
        )
      }
    </Answer>
  );
}
