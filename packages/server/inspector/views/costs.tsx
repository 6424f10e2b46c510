import type { Cost } from "../api-types.js";
import { Card, NumberTable, Page, Tiles } from "../parts/layout.js";
import { type Ask, QueryResult, useQuery } from "../parts/query.js";
import { count, titleOf } from "../parts/texts.js";
import { hrefOf, nameOf, useHere } from "../place.js";

/** Days that can be looked at; the second is shown first. */
const spans = { "1": "Today", "7": "7 days", "30": "30 days" } as const;

/** Rows of users and of apps. */
const maxRows = 20;

/** What memory's own calls of models took: by kind of work, by app and by user. */
export function Costs() {
  const { owner, params, isOperator } = useHere();
  const { days = "7" } = params;
  const costs = useQuery((ask) => readCosts(days, ask), [days]);
  return (
    <Page
      title="Cost"
      beside={
        <nav class="buttons" aria-label="Days">
          {Object.entries(spans).map(([span, name]) => (
            <a
              class="choice"
              href={hrefOf("costs", { ...owner, days: span })}
              aria-current={span === days}
            >
              {name}
            </a>
          ))}
        </nav>
      }
    >
      <QueryResult query={costs}>
        {({ kinds, apps, users, energy }) => (
          <>
            <Tiles
              tiles={[
                ["Tokens in", sumOf(kinds, "inputTokens")],
                ["Tokens out", sumOf(kinds, "outputTokens")],
                ["Calls", sumOf(kinds, "calls")],
                ["Units of energy", sumOf(kinds, "units")],
              ]}
            />
            <div class="split">
              <CostTable title="By kind of work" rows={kinds} />
              <div>
                {isOperator && <CostTable title="By app" rows={apps} />}
                {isOperator && <CostTable title="By user" rows={users} />}
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
      </QueryResult>
    </Page>
  );
}

async function readCosts(days: string, ask: Ask) {
  const [{ costs: kinds }, { costs: apps }, { costs: users }, { energy }] = await Promise.all([
    ask("/costs", { query: { by: "kind", days } }),
    ask("/costs", { query: { by: "app", days, limit: maxRows } }),
    ask("/costs", { query: { by: "user", days, limit: maxRows } }),
    ask("/stats", { query: { days: 1 } }),
  ]);
  return { kinds, apps, users, energy };
}

function sumOf(
  rows: readonly Cost[],
  field: "calls" | "inputTokens" | "outputTokens" | "units",
): string {
  return count(rows.reduce((sum, row) => sum + row[field], 0));
}

function CostTable({ title, rows }: { title: string; rows: readonly Cost[] }) {
  const { days = "7" } = useHere().params;
  /** A kind of work; or an app or a user, as a link to its own costs. */
  const nameOfRow = ({ kind, scope = {} }: Cost) => {
    if (kind !== undefined) return titleOf(kind);
    const name = nameOf(scope);
    if (name === "") return "none, or somebody who was forgotten";
    return (
      <a href={hrefOf("costs", { ...scope, days })}>
        <bdi>{name}</bdi>
      </a>
    );
  };
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <p class="note">No call in this time.</p>
      ) : (
        <NumberTable
          kind="costs"
          head={[title, "tokens in", "out", "calls"]}
          rows={rows.map((row) => [nameOfRow(row), row.inputTokens, row.outputTokens, row.calls])}
        />
      )}
      {rows.length === maxRows && <p class="faint">The {maxRows} that took most.</p>}
    </Card>
  );
}
