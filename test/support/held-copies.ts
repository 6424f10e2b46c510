import type pg from "pg";

/** Copies of all that may be held of every owner, kept by ticks alone. */
export interface HeldCopies {
  /**
   * Brings the copies up to date, each by what changed since it was, in one statement.
   *
   * @returns what a copy has otherwise than the tables have it in that statement's snapshot; empty when all is well.
   */
  differences(): Promise<string[]>;
  /** How often a copy was read anew, and how many rows came to copies that were not. */
  readonly counts: { reloads: number; rows: number };
}

interface HeldMemory {
  readonly ref: number;
  readonly active: boolean;
  readonly row: string;
  readonly words: string;
  readonly vectors: string;
  readonly links: readonly (readonly [ref: number, strength: number])[];
}

/** The words of a message, by "thread seq". */
type HeldMessage = readonly [place: string, words: string];

interface Copy {
  readonly tick: number;
  readonly memories: Map<number, HeldMemory>;
  readonly messages: Map<string, string>;
}

interface Row {
  readonly owner: string;
  readonly tick: number;
  readonly reload: boolean;
  readonly memories: readonly HeldMemory[];
  readonly messages: readonly HeldMessage[];
  readonly every_memory: readonly HeldMemory[];
  readonly every_message: readonly HeldMessage[];
}

/** What uses of a memory change of it, and what says when it changed. */
const untold = "{last_accessed_at,access_count,accessed_on,tick}";

/**
 * Copies as a process may keep them. A copy is read once, by what is active; from then on it takes rows with a tick above its
 * own, and of messages those that its owner's row points to.
 */
export function heldCopies(pool: Pick<pg.Pool, "query">, schema: string, vectors = true): HeldCopies {
  const held = new Map<string, Copy>();
  const counts = { reloads: 0, rows: 0 };
  const text = statement((table) => `"${schema}".${table}`, vectors);
  return {
    counts,
    async differences() {
      const asked = [...held].map(([owner, { tick }]) => ({ owner, tick }));
      const { rows } = await pool.query<Row>(text, [JSON.stringify(asked)]);
      const there = new Set(rows.map(({ owner }) => owner));
      for (const owner of held.keys()) if (!there.has(owner)) held.delete(owner);
      return rows.flatMap((row) => {
        const known = held.get(row.owner);
        const copy = known && !row.reload ? applied(known, row) : read(row);
        held.set(row.owner, copy);
        if (known && row.reload) counts.reloads++;
        if (known && !row.reload) counts.rows += row.memories.length + row.messages.length;
        return different(row.owner, copy, read(row));
      });
    },
  };
}

function read({ tick, every_memory, every_message }: Row): Copy {
  return {
    tick,
    memories: new Map(every_memory.map((memory) => [memory.ref, memory])),
    messages: new Map(every_message),
  };
}

function applied({ tick, memories, messages }: Copy, row: Row): Copy {
  if (row.tick <= tick) return { tick, memories, messages };
  const changed = new Map(row.memories.map((memory) => [memory.ref, memory]));
  for (const { ref, active } of row.memories) if (!active) memories.delete(ref);
  // A link is told by either end: those of what changed are all that there are.
  for (const [ref, memory] of memories) {
    if (changed.has(ref)) continue;
    const kept = memory.links.filter(([to]) => !changed.has(to));
    const told = row.memories.flatMap(({ ref: to, links }) =>
      links.filter(([from]) => from === ref).map(([, strength]) => [to, strength] as const),
    );
    memories.set(ref, { ...memory, links: [...kept, ...told] });
  }
  for (const memory of row.memories) if (memory.active) memories.set(memory.ref, memory);
  for (const [place, words] of row.messages) messages.set(place, words);
  return { tick: row.tick, memories, messages };
}

function different(owner: string, copy: Copy, truth: Copy): string[] {
  const told = [
    [toText(copy), toText(truth)],
    [copy.messages, truth.messages],
  ] as const;
  return told.flatMap(([has, should]) =>
    [...new Set([...has.keys(), ...should.keys()])]
      .filter((key) => has.get(key) !== should.get(key))
      .map(
        (key) =>
          `owner ${owner}, ${key}: ${has.get(key) ?? "nothing"} instead of ${should.get(key) ?? "nothing"}`,
      ),
  );
}

/** Of links those to memories that are there. */
function toText({ memories }: Copy): Map<string, string> {
  return new Map(
    [...memories].map(([ref, { links, ...memory }]) => {
      const seen = links.filter(([to]) => memories.has(to)).toSorted(([one], [other]) => one - other);
      return [`memory ${ref}`, JSON.stringify({ ...memory, links: seen })];
    }),
  );
}

function statement(table: (name: string) => string, vectors: boolean): string {
  const memory = `json_build_object('ref', m.ref, 'active', m.state = 'active',
    'row', (to_jsonb(m) - '${untold}'::text[] || jsonb_build_object('thread', (
      select t.thread_id from ${table("thread")} t where t.id = m.thread_ref
    )))::text,
    'words', (
      select string_agg(w.lexeme || ' ' || w.frequency || ' ' || w.length, ',' order by w.lexeme)
      from ${table("memory_term")} w where w.owner_ref = m.owner_ref and w.memory_ref = m.ref
    ),
    'vectors', ${
      vectors
        ? `(select string_agg(e.space_ref || ' ' || e.embedding, ',' order by e.space_ref)
      from ${table("memory_embedding")} e where e.owner_ref = m.owner_ref and e.memory_ref = m.ref and e.active)`
        : "null"
    },
    'links', coalesce((
      select json_agg(json_build_array(case r.from_ref when m.ref then r.to_ref else r.from_ref end, r.strength))
      from ${table("relation")} r where m.ref in (r.from_ref, r.to_ref)
    ), '[]'))`;
  const message = `json_build_array(t.thread_id || ' ' || t.app_id || ' ' || g.seq, (
    select string_agg(w.lexeme || ' ' || w.frequency || ' ' || w.length, ',' order by w.lexeme)
    from ${table("message_term")} w where w.owner_ref = o.id and w.thread_ref = g.thread_ref and w.seq = g.seq
  ))`;
  return `
    select o.id::text as owner, o.tick::float8 as tick, coalesce(o.reload_tick > a.tick, false) as reload,
      coalesce((
        select json_agg(${memory}) from ${table("memory")} m where m.owner_ref = o.id and m.tick > a.tick
      ), '[]') as memories,
      coalesce((
        select json_agg(${message})
        from ${table("thread")} t join ${table("message")} g on g.thread_ref = t.id
        where t.owner_ref = o.id and (a.tick < o.said_elsewhere_tick or t.id = o.said_in) and g.seq > coalesce((
          select b.seq from ${table("message")} b where b.thread_ref = t.id and b.tick <= a.tick order by b.seq desc limit 1
        ), -1)
      ), '[]') as messages,
      coalesce((
        select json_agg(${memory}) from ${table("memory")} m where m.owner_ref = o.id and m.state = 'active'
      ), '[]') as every_memory,
      coalesce((
        select json_agg(${message})
        from ${table("thread")} t join ${table("message")} g on g.thread_ref = t.id where t.owner_ref = o.id
      ), '[]') as every_message
    from ${table("owner")} o
    left join json_to_recordset($1::json) as a (owner bigint, tick bigint) on a.owner = o.id`;
}
