import sql from "sql-template-tag";
import type { ResolvedConfig } from "../config.js";
import { errorLine } from "../logger.js";
import { addLevels, type Levels } from "../observability/telemetry/meter.js";
import { energyLevel } from "../observability/usage/energy.js";
import { maxSpent } from "../observability/usage/usage-statements.js";
import type { Connection } from "../postgres/connection.js";
import { acrossTenants } from "../postgres/isolation.js";
import type { Runtime } from "../runtime.js";
import { workKinds } from "../work/work-kinds.rule.js";

type Deps = Pick<Runtime<ResolvedConfig>, "db" | "config" | "logger">;

/** Keeps OpenTelemetry's gauges; returns what ends it. */
export function watchLevels({ db, config, logger }: Deps): () => void {
  const find = async (): Promise<Levels["work"]> => {
    if (!(await db.mayCrossTenants())) return null;
    const [row] = await acrossTenants(() => findLevels(db));
    if (!row) return null;
    const { spent, ...work } = row;
    return { ...work, energy: energyLevel(spent, config.energy).level / 100 };
  };
  return addLevels(async () => {
    const work = await find().catch((error: unknown) => {
      logger.debug(`the gauges of this collection are missing: ${errorLine(error)}`);
      return null;
    });
    return { schemaName: db.schemaName, paused: db.status().state === "paused", work };
  });
}

/** A collection waits no longer. */
const timeoutMs = 2_000;

/** One statement, which reads what is due or given up only. */
function findLevels(db: Connection) {
  const dueAt = sql`coalesce(k.lease_until, k.retry_at)`;
  return db.query<Omit<NonNullable<Levels["work"]>, "energy"> & { readonly spent: number }>(
    sql`
    select w.due, w.stuck, w."oldestSeconds", g.given_up as "givenUp", coalesce(u.spent, 0)::float8 as spent
    from (
      select count(*)::int as due, count(k.lease_until)::int as stuck,
        coalesce(extract(epoch from ${db.now()} - min(${dueAt})), 0)::float8 as "oldestSeconds"
      from ${db.schema}.work k
      where k.given_up_at is null and k.kind = any (${workKinds}::text[]) and ${dueAt} <= ${db.now()}
    ) w
    cross join (select count(*)::int as given_up from ${db.schema}.work where given_up_at is not null) g
    cross join (${maxSpent(db)}) u (spent)`,
    { timeoutMs },
  );
}
