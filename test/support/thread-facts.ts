import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { MemoryKind } from "../../src/memories/item/memory.js";
import type { Memory } from "../../src/memory.js";
import type { Scope } from "../../src/scope/scope.js";
import type { WorkKind } from "../../src/work/work-kinds.rule.js";
import type { TestDatabase } from "./test-database.js";
import type { TestOptions } from "./test-memory.js";

export interface Address {
  readonly scope: { readonly userId: string };
  readonly threadId: string;
}

/** A thread of a new user. */
export const newAddress = (): Address => ({
  scope: { userId: randomUUID() },
  threadId: randomUUID(),
});

/** A memory on `db`, and a thread of a new user. */
export function openThread(db: TestDatabase, options?: TestOptions) {
  const thread = newAddress();
  return { memory: db.memory(options), thread, ...thread };
}

/** Drafts of plain texts. */
export const asDrafts = (texts: readonly string[]) => texts.map((text) => ({ text }));

export function say(memory: Memory, thread: Address, says: string, answer = "I see.") {
  return memory.remember({ ...thread, messages: [new HumanMessage(says), new AIMessage(answer)] });
}

/** The texts of the memories of `scope`, or of one kind of them, oldest first. */
export async function textsOf(
  memory: Memory,
  { scope }: { readonly scope: Scope },
  kind?: MemoryKind,
): Promise<string[]> {
  const listed = await memory.memories.list({ scope, ...(kind && { kinds: [kind] }) });
  return listed.map(({ text }) => text).toReversed();
}

/**
 * The events of a thread's background work as "op status detail", in order, without those of single
 * memories.
 */
export async function eventsOf(
  { pool, schema }: TestDatabase,
  { scope, threadId }: Address,
  step: string,
) {
  const { rows } = await pool.query<{ op: string; status: string; detail: string | null }>(
    `select op, status, detail from "${schema}".event
     where user_id = $1 and thread_id = $2 and step = $3 and memory_id is null and op <> 'search' order by id`,
    [scope.userId, threadId, step],
  );
  return rows.map(({ op, status, detail }) => `${op} ${status} ${detail}`);
}

export async function taskOf(
  { pool, schema }: TestDatabase,
  { threadId }: Address,
  kind: WorkKind,
) {
  type Row = Record<"done_until" | "attempts", number> &
    Record<"lease_until" | "retry_at", Date | null>;
  const { rows } = await pool.query<Row & { error: string | null }>(
    `select k.done_until::int, k.attempts, k.lease_until, k.retry_at, k.error from "${schema}".work k
     join "${schema}".thread t on t.id = k.thread_ref where t.thread_id = $1 and k.kind = $2 and k.given_up_at is null`,
    [threadId, kind],
  );
  return rows[0];
}

/** A thread's dead letters, oldest first. */
export async function deadLettersOf({ pool, schema }: TestDatabase, { threadId }: Address) {
  type Row = Record<"start_seq" | "end_seq", number> & {
    kind: WorkKind;
    output: string | null;
    error: string;
  };
  const { rows } = await pool.query<Row>(
    `select d.kind, (d.progress ->> 'startSeq')::int as start_seq, (d.progress ->> 'endSeq')::int as end_seq, d.output, d.error
     from "${schema}".work d
     join "${schema}".thread t on t.id = d.thread_ref where t.thread_id = $1 and d.given_up_at is not null order by d.id`,
    [threadId],
  );
  return rows;
}

/** The episodes of a thread's user as "start-end", oldest first. */
export async function episodesOf(memory: Memory, { scope }: Address): Promise<string[]> {
  const episodes = await memory.memories.list({ scope, kinds: ["episode"] });
  return episodes.map(({ turns }) => `${turns?.start}-${turns?.end}`).toReversed();
}
