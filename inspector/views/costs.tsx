import { ask } from "../api.js";
import type { Cost, Stats } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { count, Head, titleOf } from "../parts/texts.js";
import { hrefOf, nameOf, type Params, paramsOf, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** Days that can be looked at; the second is shown first. */
const spans = { "1": "Today", "7": "7 days", "30": "30 days" } as const;

/** Rows of users and of apps. */
const mostRows = 20;

/** What memory's own calls of models took: by kind of work, by app and by user. */
export function Costs({ place, isOperator }: ViewProps) {
  const whose = whoseOf(place.params);
  const { days = "7" } = place.params;
  const asked = useAsked((signal) => readCosts(whose, days, signal), [whose, days]);
  return (
    <section aria-label="Cost">
      <Head title="Cost">
        <nav class="buttons" aria-label="Days">
          {Object.entries(spans).map(([span, name]) => (
            <a
              key={span}
              class="choice"
              href={hrefOf({ view: "costs", params: { ...whose, days: span } })}
              aria-current={span === days ? "true" : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
      </Head>
      <Answer asked={asked}>
        {({ kinds, apps, users, energy }) => (
          <>
            <Together kinds={kinds} />
            <div class="split">
              <CostTable
                title="By kind of work"
                rows={kinds}
                nameOfRow={({ kind = "" }) => titleOf(kind)}
              />
              <div>
                {isOperator && (
                  <CostTable title="By app" rows={apps} nameOfRow={ownerName} days={days} />
                )}
                {isOperator && (
                  <CostTable title="By user" rows={users} nameOfRow={ownerName} days={days} />
                )}
              </div>
            </div>
            <p class="faint">
              Counted are the calls that memory makes of your model in the background. Your agent's
              own calls stand in each conversation. Days are UTC. Energy is a budget for this work:
              a unit is 100 tokens, in or out, and comes back after two hours. It is now at{" "}
              {count(energy.level)} of 100; below its limit notes, compaction, insights and
              consolidation wait.
            </p>
          </>
        )}
      </Answer>
    </section>
  );
}

async function readCosts(whose: Params, days: string, signal: AbortSignal) {
  const costsBy = async (by: "kind" | "app" | "user") => {
    const query = { by, days, limit: by === "kind" ? undefined : mostRows };
    const call = { whose, signal, query };
    return (await ask<{ readonly costs: readonly Cost[] }>("costs", call)).costs;
  };
  const stats = ask<Stats>("stats", { whose, signal, query: { days: 1 } });
  const [kinds, apps, users] = await Promise.all([
    costsBy("kind"),
    costsBy("app"),
    costsBy("user"),
  ]);
  return { kinds, apps, users, energy: (await stats).energy };
}

const ownerName = ({ scope = {} }: Cost) =>
  nameOf(paramsOf(scope)) || "none, or somebody who was forgotten";

function sumOf(rows: readonly Cost[], of: "calls" | "inputTokens" | "outputTokens" | "units") {
  return rows.reduce((sum, row) => sum + row[of], 0);
}

function Together({ kinds }: Readonly<{ kinds: readonly Cost[] }>) {
  const tiles = [
    ["Tokens in", sumOf(kinds, "inputTokens")],
    ["Tokens out", sumOf(kinds, "outputTokens")],
    ["Calls", sumOf(kinds, "calls")],
    ["Units of energy", sumOf(kinds, "units")],
  ] as const;
  return (
    <dl class="tiles">
      {tiles.map(([name, sum]) => (
        <div key={name} class="card">
          <dt>{name}</dt>
          <dd class="figure">{count(sum)}</dd>
        </div>
      ))}
    </dl>
  );
}

function CostTable({
  title,
  rows,
  nameOfRow,
  days,
}: Readonly<{
  title: string;
  rows: readonly Cost[];
  nameOfRow: (row: Cost) => string;
  /** Where a row's name leads to its own costs. */
  days?: string;
}>) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {rows.length === 0 && <p class="note">No call in this time.</p>}
      {rows.length > 0 && (
        <table class="costs">
          <thead>
            <tr>
              <th scope="col">{title}</th>
              <th scope="col">tokens in</th>
              <th scope="col">out</th>
              <th scope="col">calls</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const owner = row.scope && paramsOf(row.scope);
              return (
                <tr key={nameOfRow(row)}>
                  <th scope="row">
                    {days !== undefined && owner && nameOf(owner) !== "" ? (
                      <a href={hrefOf({ view: "costs", params: { ...owner, days } })}>
                        <bdi>{nameOfRow(row)}</bdi>
                      </a>
                    ) : (
                      nameOfRow(row)
                    )}
                  </th>
                  <td class="number">{count(row.inputTokens)}</td>
                  <td class="number">{count(row.outputTokens)}</td>
                  <td class="number">{count(row.calls)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}
