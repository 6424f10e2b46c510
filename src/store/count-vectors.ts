import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/** How much of the active memories has a vector in one embedding space. */
export interface VectorCount {
  readonly space: string;
  readonly dimensions: number;
  readonly vectors: number;
}

/** Vectors of active memories by embedding space, over all scopes. Needs the tables of vectors. */
export async function countVectors(db: Connection): Promise<VectorCount[]> {
  return db.query<VectorCount>(sql`
    select s.name as space, s.dimensions, count(m.ref)::int as vectors
    from ${db.schema}.embedding_space s
    left join ${db.schema}.memory_embedding e on e.space_ref = s.id and e.active
    left join ${db.schema}.memory m on m.ref = e.memory_ref and m.state = 'active'
    group by s.id order by s.id`);
}
