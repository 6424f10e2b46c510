import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { pageRowsField, parseInput, storableText } from "../../input/parse-input.js";
import { asListed } from "../../postgres/isolation.js";
import type { Runtime } from "../../runtime.js";
import { idHmacOf } from "../../scope/id-hmac.rule.js";
import { listed, type Scope, scopeField, tenantField } from "../../scope/scope.js";
import {
  isListed,
  ofTenant,
  ownerColumns,
  type ScopeRow,
  uuidOf,
  withScope,
} from "../../scope/scope-predicates.js";
import { checkErased } from "./check-erased.js";
import { type ErasureRow, erasureColumns, recordOf } from "./erasure-log.js";
import { type ErasureReceipt, makeReceipt } from "./receipt.rule.js";
import type { ReceiptsOptions } from "./receipts-options.js";

/** An erasure of a user, of a user within an app, or of an app. It names nobody. */
export interface ListedErasure
  extends Omit<ErasureRow, "tenantId" | "ownerWas" | "idHmac" | "previous" | "sha256"> {
  readonly tenantId: string | null;
  /** Whether the erased id can be asked for: an HMAC of it is kept. */
  readonly hasDigest: boolean;
}

/** Memories that a user asked to forget at one time. */
export interface ForgetRequest {
  readonly scope: Scope;
  readonly actor: string | null;
  readonly at: Date;
  readonly memories: number;
  /** Those that can still be restored, until `purgeAt`. */
  readonly waiting: number;
  readonly restored: number;
  /** Those that are gone for good. */
  readonly purged: number;
  readonly purgeAt: Date;
}

export interface ErasuresApi {
  /**
   * Latest first. An unfinished one has no `endedAt`: it runs, or was interrupted and waits for
   * another `forget`.
   * @example
   * ```ts
   * console.log(await memory.erasures.list({ limit: 10 }));
   * ```
   * @throws MemoryError `INVALID_INPUT`, with a scope also without `receipts.idKey`
   */
  list(which?: ListErasures): Promise<ListedErasure[]>;
  /**
   * Proof of an erasure, signed with `receipts.privateKey`. What the database has of the erased id
   * is asked anew.
   * @example
   * ```ts
   * const [latest] = await memory.erasures.list();
   * console.log(latest ? await memory.erasures.receipt({ id: latest.id }) : "Nobody was erased.");
   * ```
   * @throws MemoryError `NOT_FOUND`; `WRONG_STATE` before it ended
   */
  receipt(which: z.input<typeof receiptSchema>): Promise<ErasureReceipt>;
  /**
   * What users asked to forget, latest first.
   * @example
   * ```ts
   * console.log(await memory.erasures.requests({ limit: 10 }));
   * ```
   */
  requests(which?: Omit<ListErasures, "after">): Promise<ForgetRequest[]>;
}

interface ErasuresConfig {
  readonly receipts: ReceiptsOptions;
  readonly lifecycle: { readonly purgeAfterMs: number };
}

const listSchema = z.strictObject({
  /** Only those of this user or app: erasures are found by `receipts.idKey`. @default everybody's */
  scope: scopeField,
  /** Without a scope: only this tenant. @default all tenants */
  tenantId: tenantField,
  /** Rows, 1 to 1,000. @default 100 */
  limit: pageRowsField,
  /** The id of the last one of the page before. */
  after: storableText.optional(),
});

interface ListErasures extends z.input<typeof listSchema> {}

const receiptSchema = z.strictObject({ id: storableText, tenantId: tenantField });
const requestsSchema = listSchema.omit({ after: true });

export function createErasuresApi({ db, clock, config }: Runtime<ErasuresConfig>): ErasuresApi {
  const { schema } = db;
  const { idKey, privateKey } = config.receipts;
  return {
    list: (input) =>
      listed(listSchema, input, "list of erasures", async ({ scope, tenantId, after, limit }) => {
        if (scope && idKey === undefined) throw withoutDigests();
        const isOf = scope ? sql`e.id_hmac = ${idHmacOf(idKey, scope)}` : sql`true`;
        const isAsked = sql`${ofTenant(sql`e.tenant_id`, scope ? (scope.tenantId ?? "") : tenantId)} and ${isOf}`;
        const follows =
          after === undefined
            ? sql`true`
            : sql`(e.began_at, e.id) < (select e.began_at, e.id from ${schema}.erasure e where e.id = ${uuidOf(after)}::uuid and ${isAsked})`;
        return db.query<ListedErasure>(sql`
          select e.id::text as id, nullif(e.tenant_id, '') as "tenantId", e.kind, e.actor, e.rows_before as before,
            e.rows_after as after, e.began_at as "beganAt", e.ended_at as "endedAt", e.id_hmac is not null as "hasDigest"
          from ${schema}.erasure e
          where ${isAsked} and ${follows}
          order by e.began_at desc, e.id desc limit ${limit}`);
      }),
    async receipt(input) {
      const which = parseInput(receiptSchema, input, "receipt");
      return asListed(which, async () => {
        const [row] = await db.query<ErasureRow>(sql`
          select ${erasureColumns} from ${schema}.erasure e
          where e.id = ${uuidOf(which.id)}::uuid and ${ofTenant(sql`e.tenant_id`, which.tenantId)}`);
        if (!row) throw new MemoryError("NOT_FOUND", `There is no erasure "${which.id}".`);
        const record = recordOf(row);
        if (!record || row.sha256 === null) throw unfinished();
        const check = await checkErased(db, row, { idKey, now: clock() });
        return makeReceipt(record, row.sha256, check, privateKey);
      });
    },
    // A request removes its memories in one transaction, which has one time.
    requests: (input) =>
      listed(requestsSchema, input, "list of requests to forget", async (which) => {
        const owners = which.scope ? { scope: ownerColumns(which.scope) } : which;
        const rows = await db.query<ScopeRow & Omit<ForgetRequest, "scope">>(sql`
          select h.tenant_id, h.user_id, h.app_id, h.actor, h.created_at as at, count(*)::int as memories,
            (count(*) filter (where m.state <> 'active'))::int as waiting,
            (count(*) filter (where m.state = 'active'))::int as restored,
            (count(*) - count(m.ref))::int as purged,
            h.created_at + ${config.lifecycle.purgeAfterMs}::float8 * interval '1 millisecond' as "purgeAt"
          from (
            select o.tenant_id, o.user_id, o.app_id, h.owner_ref, h.memory_id, h.actor, h.created_at
            from ${schema}.history h
            -- One by one: a join would read all owners.
            cross join lateral (select * from ${schema}.owner where id = h.owner_ref limit 1) o
            where h.event = 'DELETE' and h.new ? 'evidence' and ${isListed(owners, "o")}
            order by h.created_at desc limit ${which.limit * memoriesOfRequest}
          ) h
          left join ${schema}.memory m on m.id = h.memory_id and m.owner_ref = h.owner_ref
          group by h.tenant_id, h.user_id, h.app_id, h.actor, h.created_at
          order by h.created_at desc limit ${which.limit}`);
        return rows.map(withScope);
      }),
  };
}

/** An agent forgets three memories for a message at most: enough for each request of a page. */
const memoriesOfRequest = 20;

const withoutDigests = () =>
  new MemoryError(
    "INVALID_INPUT",
    "Erased ids cannot be asked for: nothing is kept of them. Set `receipts.idKey` to keep an HMAC of each from now on.",
  );

const unfinished = () =>
  new MemoryError(
    "WRONG_STATE",
    "This erasure has not ended: it runs, or was interrupted. Forget the same scope again.",
  );
