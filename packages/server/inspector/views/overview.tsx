import type { Memory, Stats } from "../api-types.js";
import { DayChart } from "../parts/day-chart.js";
import { Card, MemoryLink, Page, Rows, Tiles } from "../parts/layout.js";
import { type Ask, QueryResult, useAnswer, useQuery } from "../parts/query.js";
import { count, counted, Tag, titleOf, When } from "../parts/texts.js";
import { hrefOf, nameOf, useHere } from "../place.js";
import { textOfJob } from "./jobs.js";
import { ThreadRows } from "./threads.js";

/** Lines of each part. */
const [maxThreads, maxLearned, maxWaiting] = [6, 6, 3];
/** How many that wait are counted; beyond it, "99+". */
const maxCounted = 100;
const chartDays = 14;
const tokensPerUnit = 100;

/** What is going on: latest conversations, what waits, what was learned, and what recall took. */
export function Overview() {
  const { owner } = useHere();
  const name = nameOf(owner);
  const stats = useAnswer("/stats", { query: { by: "day", days: chartDays } });
  const latest = useAnswer("/threads", { query: { limit: maxThreads } });
  // Notes of apps are learned at every turn: they would hide what is known of users.
  const kinds = owner.appId ? undefined : "fact";
  const learned = useAnswer("/memories", { query: { limit: maxLearned, kinds } });
  const today = new Date().toLocaleDateString("en-GB", {
    weekday: "long",
    day: "numeric",
    month: "long",
    timeZone: "UTC",
  });
  return (
    <Page title={name || "Overview"} beside={<span class="faint">{today}, UTC</span>}>
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
              {({ memories }) => (
                <Rows rows={memories} none="Nothing yet.">
                  {({ id, scope, text, category, createdAt }) => (
                    <li key={id}>
                      <MemoryLink id={id} owner={scope} kind="row plain">
                        {text.slice(0, 200)}
                      </MemoryLink>
                      <p class="faint">
                        {titleOf(category)} · {name === "" && `${nameOf(scope)} · `}
                        <When at={createdAt} />
                      </p>
                    </li>
                  )}
                </Rows>
              )}
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
  const week = rows?.slice(-7) ?? [];
  const turns = week.reduce((sum, day) => sum + day.recalls, 0);
  const { recalls = 0, recallsWithMemory = 0, recallLatencyMs = null, writes = {} } = today ?? {};
  const changed = (writes.update ?? 0) + (writes.replace ?? 0) + (writes.merge ?? 0);
  return (
    <Tiles
      tiles={[
        [
          "Turns today",
          count(recalls),
          `something new shown in ${count(recallsWithMemory)}; ${count(turns)} in 7 days`,
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
      <DayChart
        title="Milliseconds"
        names={["half within", "95 of 100 within"]}
        rows={rows.map(({ day = "", recallLatencyMs: took }) => {
          return { day, inner: took?.p50 ?? 0, outer: took?.p95 ?? null };
        })}
      />
      <DayChart
        title="Turns"
        names={["shown something new", "all"]}
        rows={rows.map(({ day = "", recalls, recallsWithMemory }) => {
          return { day, inner: recallsWithMemory, outer: recalls || null };
        })}
      />
    </div>
  );
}

/** What waits for somebody, in the order of the view that has all of it. */
function Waits() {
  const { owner, isOperator } = useHere();
  const waiting = useQuery((ask) => readWaiting(isOperator, ask), [isOperator]);
  return (
    <Card title="Waits for you" beside={<All view="waiting" />}>
      <QueryResult query={waiting}>
        {(groups) => (
          <>
            {groups.every(({ rows }) => rows.length === 0) && (
              <p class="good">Nothing: all is done and decided.</p>
            )}
            {groups
              .filter(({ rows }) => rows.length > 0)
              .map(({ name, tone, view = "waiting", rows }) => (
                <div>
                  <h3>
                    {name}{" "}
                    <Tag
                      of={rows.length < maxCounted ? count(rows.length) : `${maxCounted - 1}+`}
                      tone={tone}
                    />
                  </h3>
                  <Rows kind="lines" rows={rows.slice(0, maxWaiting)}>
                    {({ id, scope, text, about = nameOf(scope) }) => (
                      <li key={id}>
                        <a href={hrefOf(view, view === "memory" ? { ...scope, id } : owner)}>
                          <bdi>{text.slice(0, 120)}</bdi>
                        </a>{" "}
                        <span class="faint">{about.slice(0, 80)}</span>
                      </li>
                    )}
                  </Rows>
                </div>
              ))}
          </>
        )}
      </QueryResult>
    </Card>
  );
}

/** Things that wait. */
interface Group {
  readonly name: string;
  readonly tone: string;
  /** The view of each. @default waiting */
  readonly view?: "memory";
  /** What is said about each is whose it is, unless there is more to say. */
  readonly rows: readonly (Pick<Memory, "id" | "scope" | "text"> & { readonly about?: string })[];
}

async function readWaiting(isOperator: boolean, ask: Ask): Promise<readonly Group[]> {
  const limit = maxCounted;
  const { consents } = await ask("/consents", { query: { status: "pending", limit } });
  const asked: Group = { name: "Requests for consent", tone: "waiting", rows: consents };
  if (!isOperator) return [asked];
  const [{ jobs }, { consolidations }, { memories }] = await Promise.all([
    ask("/jobs", { query: { state: "failed", limit } }),
    ask("/consolidations", { query: { status: "waiting", limit } }),
    ask("/memories", { query: { states: "quarantined", limit } }),
  ]);
  const failed = jobs.map((job) => ({ ...job, text: textOfJob(job), about: job.error ?? "" }));
  const runs = consolidations.map(({ id, scope, merged, closed }) => {
    return { id, scope, text: `${merged.length} to merge, ${closed.length} to close` };
  });
  return [
    { name: "Failed work", tone: "bad", rows: failed },
    { name: "Consolidations", tone: "waiting", rows: runs },
    asked,
    { name: "Quarantine", tone: "waiting", view: "memory", rows: memories },
  ];
}
