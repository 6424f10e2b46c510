import type pg from "pg";
import { createMemoriesApi, type MemoriesApi } from "../../src/memories/memories-api.js";
import type { HeldNeighbours } from "../../src/memories/write/held-neighbours.js";
import type { WriteRuntime } from "../../src/memories/write/write-runtime.js";
import { createEmbedder } from "../../src/models/embedder.js";
import { type MemoryConfig, resolveConfig } from "../../src/options.js";
import { createDatabase } from "../../src/postgres/database.js";
import type { Scope } from "../../src/scope/scope.js";
import type { HashingEmbeddings } from "../../src/testing/index.js";
import { createRedactor } from "../../src/text/redactor.js";
import { silentLogger } from "./silent-logger.js";

/** Copies of owners' memories, each as it was when it was last taken. */
export interface HeldOwners {
  readonly find: (scope: Scope) => HeldNeighbours | null;
  /** Takes the copy of the scope's owner anew. */
  take(scope: Scope): Promise<void>;
}

interface Held {
  ref: number;
  id: string;
  app: string;
  vector: number[];
}

/** Copies read from the tables of `schema`, in the space of that name. */
export function holdOwners({ pool, schema }: { pool: pg.Pool; schema: string }, space: string): HeldOwners {
  const copies = new Map<string, HeldNeighbours>();
  return {
    find: (scope) => copies.get(nameOf(scope)) ?? null,
    async take(scope) {
      const { rows } = await pool.query(
        `select o.id::float8 as "ownerRef", o.tick::float8 as tick, s.id as "spaceRef", (
           select coalesce(json_agg(json_build_object(
             'ref', m.ref, 'id', m.id, 'app', m.app_id, 'vector', e.embedding::text::json
           )), '[]')
           from "${schema}".memory m join "${schema}".memory_embedding e on e.memory_ref = m.ref
           where m.owner_ref = o.id and m.state = 'active' and e.active and e.space_ref = s.id
         ) as memories
         from "${schema}".owner o, "${schema}".embedding_space s
         where o.tenant_id = $1 and o.user_id = $2 and o.app_id = $3 and s.name = $4`,
        [scope.tenantId ?? "", scope.userId ?? "", scope.userId ? "" : (scope.appId ?? ""), space],
      );
      const [row] = rows;
      if (row) copies.set(nameOf(scope), { ...row, nearest: nearestOf(row.memories) });
      else copies.delete(nameOf(scope));
    },
  };
}

const nameOf = ({ tenantId, userId, appId }: Scope) =>
  JSON.stringify([tenantId, userId, userId ? undefined : appId]);

const nearestOf =
  (memories: readonly Held[]): HeldNeighbours["nearest"] =>
  (appId, vector, most) => {
    const asked = numbersOf(vector);
    return memories
      .filter(({ app }) => app === appId)
      .map(({ ref, id, vector: held }) => ({
        ...{ ref, id },
        similarity: held.reduce((sum, value, at) => sum + value * (asked[at] ?? 0), 0),
      }))
      .toSorted((one, other) => other.similarity - one.similarity || one.ref - other.ref)
      .slice(0, most);
  };

/** The numbers of a `halfvec` in its binary form. */
function numbersOf(vector: Buffer): number[] {
  return Array.from({ length: vector.readUInt16BE(0) }, (_, at) => {
    const bits = vector.readUInt16BE(4 + 2 * at);
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
    return bits & 0x8000 ? -size : size;
  });
}

/** The runtime of writes on `pool`, with what is held of owners. */
export function writeRuntime(
  { pool, schema }: { pool: pg.Pool; schema: string },
  how: {
    readonly embeddings: HashingEmbeddings;
    readonly space: string;
    readonly neighbours?: WriteRuntime["neighbours"];
    readonly clock?: () => Date;
    readonly config?: MemoryConfig;
  },
): WriteRuntime {
  const { embeddings, space, neighbours, clock, config } = how;
  const db = createDatabase(pool, { schemaName: schema, clock }, async () => {});
  return {
    ...{
      db,
      config: resolveConfig(config),
      logger: silentLogger,
      neighbours,
      hasModel: false,
      modelHere: false,
    },
    clock: clock ?? (() => new Date()),
    embedder: createEmbedder(db, Object.assign(embeddings, { model: space }), { timeoutMs: 30_000 }),
    redactor: createRedactor(undefined),
    model: () => {
      throw new Error("no model");
    },
    usage: { charging: () => async () => {}, pausedUntil: async () => null },
    onRetry: () => {},
  };
}

/** `memory.memories` with what is held of owners. */
export function memoriesApi(...how: Parameters<typeof writeRuntime>): MemoriesApi {
  return createMemoriesApi(writeRuntime(...how));
}
