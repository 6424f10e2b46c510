import type { TestDatabase } from "./test-database.js";

/** Makes the memory `evidence` what `insights` rest on, as a run for insights does. */
export async function restOn(
  { pool, schema }: Pick<TestDatabase, "pool" | "schema">,
  evidence: string | null | undefined,
  ...insights: readonly (string | null | undefined)[]
): Promise<void> {
  await pool.query(
    `with pair as materialized (
       select i.ref as insight, e.ref as evidence from "${schema}".memory i, "${schema}".memory e
       where i.id = any ($1) and e.id = $2
     )
     insert into "${schema}".relation (from_ref, to_ref, relation_type, strength)
     select p.insight, p.evidence, 'evidence', 0.6 from pair p`,
    [insights, evidence],
  );
}
