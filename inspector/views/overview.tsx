import type { Answer, Memory, Stats } from "../api-types.js";
import { DayChart } from "../parts/day-chart.js";
import { Card, MemoryLink, Page, Rows, Tiles } from "../parts/layout.js";
import { QueryResult, useAnswer } from "../parts/query.js";
import { count, counted, Tag, titleOf, When } from "../parts/texts.js";
import { hrefOf, nameOf, paramsOf, scopeName, useHere } from "../place.js";
import { ThreadRows } from "./threads.js";

/** Lines of each part. */
const [mostThreads, mostLearned, mostWaiting] = [6, 6, 3];
/** How many that wait are counted; beyond it, "99+". */
const mostCounted = 100;
const chartDays = 14;
const tokensPerUnit = 100;

/** What is going on: latest conversations, what waits, what was learned, and what recall took. */
export function Overview() {
  const { owner } = useHere();
  const stats = useAnswer("/stats", { query: { by: "day", days: chartDays } });
  const latest = useAnswer("/threads", { query: { limit: mostThreads } });
  const learned = useAnswer("/memories", { query: { limit: mostLearned } });
  const today = new Date().toLocaleDateString("en-GB", {
    weekday: "long",
    day: "numeric",
    month: "long",
  });
  return (
    <Page title={nameOf(owner) || "Overview"} beside={<span class="faint">{today}</span>}>
      <QueryResult query={stats}>{(found) => <Today stats={found} />}</QueryResult>
      <div class="split">
        <div>
          <Card title="Latest conversations" beside={<All view="threads" />}>
            <QueryResult query={latest}>
              {({ threads }) => <ThreadRows threads={threads} none="None yet." />}
            </QueryResult>
          </Card>
          <Card title="Recall over days">
            <QueryResult query={stats}>{({ rows = [] }) => <Charts rows={rows} />}</QueryResult>
          </Card>
        </div>
        <div>
          <Waits />
          <Card title="Learned last" beside={<All view="memories" />}>
            <QueryResult query={learned}>
              {({ memories }) => <Learned memories={memories} />}
            </QueryResult>
          </Card>
        </div>
      </div>
    </Page>
  );
}

/** A link to the view that has all of it. */
function All({ view }: { view: string }) {
  return <a href={hrefOf(view, useHere().owner)}>All →</a>;
}

function Today({ stats: { rows, energy } }: { stats: Stats }) {
  // Oldest day first; the last is today.
  const today = rows?.at(-1);
  const { recalls = 0, recallsWithMemory = 0, recallLatencyMs = null, writes = {} } = today ?? {};
  const changed = (writes.update ?? 0) + (writes.replace ?? 0) + (writes.merge ?? 0);
  return (
    <Tiles
      tiles={[
        [
          "Turns today",
          count(recalls),
          recalls > 0 ? `something new shown in ${count(recallsWithMemory)}` : "none yet",
        ],
        [
          "Learned today",
          count(writes.create ?? 0),
          `${counted(changed, "change")} to what was known`,
        ],
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
      ]}
    />
  );
}

function Charts({ rows }: { rows: NonNullable<Stats["rows"]> }) {
  if (rows.every(({ recalls }) => recalls === 0))
    return <p class="note">No recall in these {chartDays} days.</p>;
  return (
    <div class="charts">
      <div>
        <h3>Milliseconds</h3>
        <DayChart
          names={["half within", "95 of 100 within"]}
          rows={rows.map(({ day = "", recallLatencyMs: took }) => ({
            day,
            inner: took?.p50 ?? 0,
            outer: took?.p95 ?? null,
          }))}
        />
      </div>
      <div>
        <h3>Turns</h3>
        <DayChart
          names={["shown something new", "all"]}
          rows={rows.map(({ day = "", recalls, recallsWithMemory }) => ({
            day,
            inner: recallsWithMemory,
            outer: recalls || null,
          }))}
        />
      </div>
    </div>
  );
}

function Learned({ memories }: { memories: readonly Memory[] }) {
  const isOfAll = nameOf(useHere().owner) === "";
  return (
    <Rows rows={memories} none="Nothing yet.">
      {({ id, scope, text, category, createdAt }) => (
        <li key={id}>
          <MemoryLink id={id} owner={paramsOf(scope)} kind="row plain">
            {text.slice(0, 200)}
          </MemoryLink>
          <p class="faint">
            {titleOf(category)} · {isOfAll && `${scopeName(scope)} · `}
            <When at={createdAt} />
          </p>
        </li>
      )}
    </Rows>
  );
}

/** What waits for somebody: what failed first, then requests for consent, then quarantine. */
function Waits() {
  const { owner, isOperator } = useHere();
  const waiting = hrefOf("waiting", owner);
  return (
    <Card title="Waits for you" beside={<All view="waiting" />}>
      <p class="clear good">Nothing: all is done and decided.</p>
      {isOperator && (
        <Some
          path="/jobs"
          which={{ state: "failed" }}
          name="Failed work"
          rowsOf={({ jobs }) => jobs}
          lineOf={({ kind, threadId, scope, error }) => [
            waiting,
            `${titleOf(kind)} of ${threadId ?? scopeName(scope)}`,
            error ?? "",
          ]}
        />
      )}
      <Some
        path="/consents"
        which={{ status: "pending" }}
        name="Requests for consent"
        rowsOf={({ consents }) => consents}
        lineOf={({ text, scope }) => [waiting, text, scopeName(scope)]}
      />
      {isOperator && (
        <Some
          path="/memories"
          which={{ states: "quarantined" }}
          name="Quarantine"
          rowsOf={({ memories }) => memories}
          lineOf={({ id, text, scope }) => [
            hrefOf("memory", { ...paramsOf(scope), id }),
            text,
            scopeName(scope),
          ]}
        />
      )}
    </Card>
  );
}

/** How many there are of a list, and the first of them. */
function Some<List extends "/jobs" | "/consents" | "/memories", Row extends { id: string }>({
  path,
  which,
  name,
  rowsOf,
  lineOf,
}: {
  path: List;
  which: Readonly<Record<string, string>>;
  name: string;
  rowsOf: (page: Answer<List>) => readonly Row[];
  lineOf: (row: Row) => readonly [href: string, text: string, about: string];
}) {
  const page = useAnswer(path, { query: { ...which, limit: mostCounted } });
  const many = (rows: readonly Row[]) =>
    rows.length < mostCounted ? count(rows.length) : `${mostCounted - 1}+`;
  return (
    <QueryResult query={page}>
      {(found) => {
        const rows = rowsOf(found);
        return (
          rows.length > 0 && (
            <div class="waits">
              <h3>
                {name} <Tag of={many(rows)} tone={path === "/jobs" ? "bad" : "waiting"} />
              </h3>
              <Rows kind="lines" rows={rows.slice(0, mostWaiting)}>
                {(row) => {
                  const [href, text, about] = lineOf(row);
                  return (
                    <li key={row.id}>
                      <a href={href}>
                        <bdi>{text.slice(0, 120)}</bdi>
                      </a>{" "}
                      <span class="faint">{about.slice(0, 80)}</span>
                    </li>
                  );
                }}
              </Rows>
            </div>
          )
        );
      }}
    </QueryResult>
  );
}
