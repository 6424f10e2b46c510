import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import type { ConsentRequest } from "../memories/guard/consent-request.rule.js";
import type { WriteRuntime } from "../memories/write/write-runtime.js";
import type { Connection } from "../postgres/connection.js";
import { parseScoped, parseThreadId, type Scope, scopeField, threadField } from "../scope/scope.js";
import { scopeColumns, threadIs, uuidOf } from "../scope/scope-predicates.js";
import { clipped } from "../text/storable-text.js";
import { consentQuote } from "./consent-quote.rule.js";
import { decideConsent } from "./decide-consent.js";

/** What a user wrote in a round that is not recorded yet. */
export interface UnrecordedWords {
  readonly messageId?: string | undefined;
  readonly text: string;
}

/** A decision that a user made in conversation. */
export interface ConsentAcknowledgement {
  readonly scope: Scope;
  readonly threadId: string;
  readonly id: string;
  readonly decision: "approve" | "refuse";
  /** The user's words that say so: whole sentences. */
  readonly quote: string;
  /** What the user wrote in the round under way, the latest last; of what is recorded, the transcript is asked. */
  readonly said?: readonly UnrecordedWords[] | undefined;
  /** Whether the round began after the request was made. @default whether anything was recorded in the thread since */
  readonly shown?: boolean | undefined;
}

const acknowledgementSchema = z.strictObject({
  scope: scopeField,
  threadId: threadField,
  id: z.string(),
  decision: z.enum(["approve", "refuse"]),
  quote: z.string(),
  said: z.array(z.strictObject({ messageId: z.string().optional(), text: z.string() })).optional(),
  shown: z.boolean().optional(),
});

/**
 * Decides a request by what its user wrote last in a thread, after it was made. The quote must be that message, or whole
 * sentences of it, that agree or refuse: see `consentQuote`.
 *
 * @throws MemoryError `INVALID_INPUT` when it does not, and all that `decideConsent` throws.
 */
export async function acknowledgeConsent(
  deps: WriteRuntime,
  input: ConsentAcknowledgement,
): Promise<ConsentRequest> {
  const acknowledged = parseScoped(acknowledgementSchema, input, "acknowledgement");
  const { scope, id, decision } = acknowledged;
  const threadId = parseThreadId(acknowledged.threadId);
  const latest = await latestWords(deps.db, { ...acknowledged, threadId });
  const quote = latest && consentQuote(latest.text, acknowledged.quote, decision);
  if (!latest || !quote) throw new MemoryError("INVALID_INPUT", refusalOf(acknowledged, latest !== null));
  const { messageId, text: message } = latest;
  const evidence = { quote, message, threadId, ...(messageId !== undefined && { messageId }) };
  const actor = scope.userId ?? "user";
  return decideConsent(deps, { scope, id, decision, actor, via: "chat", evidence });
}

/** What the user wrote last since the request was made; null when nothing. */
async function latestWords(
  db: Connection,
  { scope, threadId, id: requestId, said = [], shown }: Omit<ConsentAcknowledgement, "quote" | "decision">,
): Promise<UnrecordedWords | UserWords["latest"]> {
  const ids = said.flatMap(({ messageId }) => messageId ?? []);
  const found = await findUserWords(db, { scope, threadId, requestId, ids });
  const recorded = new Set(found.recorded);
  // What is not recorded was said after all that is.
  const isLater = shown || found.continued;
  const fresh = said.filter(
    ({ messageId }) => isLater && !(messageId !== undefined && recorded.has(messageId)),
  );
  return fresh.at(-1) ?? found.latest;
}

function refusalOf(
  { quote, decision }: Pick<ConsentAcknowledgement, "quote" | "decision">,
  answered: boolean,
): string {
  const means = decision === "approve" ? "plainly agrees, with no refusal beside it" : "is no question";
  const what = answered
    ? `as an answer. Quote a whole sentence of the user's latest message that ${means};`
    : "in this conversation since the request was made:";
  return `The user has not written "${clipped(quote, 200)}" ${what} when the user has not answered yet, ask and wait for the answer.`;
}

/** What a thread holds since a request was made. */
interface UserWords {
  /** What its user wrote last; null when nothing. */
  readonly latest: { readonly messageId: string; readonly text: string } | null;
  /** Whether anything at all was recorded in it since. */
  readonly continued: boolean;
  /** Which of the messages asked about are recorded, whenever that was. */
  readonly recorded: readonly string[];
}

/**
 * What the user of a thread wrote last in it since the request was made; which of `ids` it holds.
 * One statement; of another scope's thread, and for another scope's request, nothing.
 */
async function findUserWords(
  db: Connection,
  input: { scope: Scope; threadId: string; requestId: string; ids: readonly string[] },
): Promise<UserWords> {
  const { tenantId, userId, appId } = scopeColumns(input.scope);
  const [row] = await db.query<UserWords>(sql`
    with spoken as (
      select t.id, c.created_at as since
      from ${db.schema}.thread t
      left join ${db.schema}.consent_request c on c.id = ${uuidOf(input.requestId)}::uuid and c.owner_ref = t.owner_ref
      where ${threadIs(tenantId, input.threadId)}
        and t.user_id = ${userId} and t.app_id = ${appId}
    )
    select
      (
        select json_build_object('messageId', m.message_id, 'text', m.content)
        from spoken s join ${db.schema}.message m on m.thread_ref = s.id
        where m.role = 'user' and m.created_at > s.since order by m.seq desc limit 1
      ) as latest,
      exists (
        select from spoken s join ${db.schema}.message m on m.thread_ref = s.id where m.created_at > s.since
      ) as continued,
      array(
        select m.message_id from spoken s join ${db.schema}.message m on m.thread_ref = s.id
        where m.message_id = any (${input.ids}::text[])
      ) as recorded`);
  return row ?? { latest: null, continued: false, recorded: [] };
}
