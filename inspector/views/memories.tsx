import { ask } from "../api.js";
import type { Memory, MemoryPage } from "../api-types.js";
import { Choosable } from "../parts/actions.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Choice, Field, Filters } from "../parts/filters.js";
import { Pages } from "../parts/pages.js";
import { count, Head, Marked, Tag, titleOf, toneOf, When, wordsOf } from "../parts/texts.js";
import { hrefOf, nameOf, type Params, type Place, paramsOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { actionsOf } from "./memory-actions.js";
import { SlotValues } from "./slot-values.js";

const kinds = ["fact", "episode", "note", "insight", "procedure"];
const states = ["active", "superseded", "merged", "soft_deleted", "quarantined"];
const sorts = ["newest", "oldest", "updated", "used", "importance"];

/** Memories of a page. */
const pageMemories = 60;
/** Characters of a memory that stand in the list. */
const lineCharacters = 400;

type Listed = Awaited<ReturnType<typeof readPage>>;

/** What is known, by category; what is ticked is decided together. */
export function Memories({ place }: ViewProps) {
  const {
    kind = "",
    state = "active",
    category = "",
    key = "",
    words = "",
    sort = "newest",
  } = place.params;
  const asked = useAsked((signal) => readPage(place.params, signal), [place.params]);
  return (
    <section aria-label="Memories">
      <Head title="Memories" />
      <Filters place={place} search={{ name: "words", value: words, label: "Search memories" }}>
        <Field label="Category" name="category" value={category} />
        <Field label="Key" name="key" value={key} />
        <Choice name="kind" label="Kind" value={kind} words={["", ...kinds]} />
        <Choice name="state" label="State" value={state} words={[...states, "any"]} />
        <Choice name="sort" label="Sort" value={sort} words={sorts} />
      </Filters>
      <Answer asked={asked}>
        {(page) => (
          <>
            <Total place={place} page={page} />
            <List page={page} params={place.params} again={asked.again} />
            <Pages place={place} next={page.nextCursor} rows={page.memories.length} />
          </>
        )}
      </Answer>
    </section>
  );
}

async function readPage(params: Params, signal: AbortSignal) {
  const { kind, state = "active", category, key, words, sort, after } = params;
  const call = { whose: params, signal };
  const which = {
    ...{ kinds: kind, categories: category, keys: key, contains: words },
    states: state === "any" ? states : state,
  };
  const [page, { count: total }] = await Promise.all([
    ask<MemoryPage>("memories", { ...call, query: { ...which, limit: pageMemories, after, sort } }),
    ask<{ readonly count: number }>("memories/count", { ...call, query: which }),
  ]);
  const keys = [...new Set(page.memories.flatMap((memory) => memory.key ?? []))];
  const { memories } =
    keys.length === 0 || nameOf(params) === ""
      ? { memories: [] }
      : await ask<MemoryPage>("memories", {
          ...call,
          query: { keys, states: "superseded", limit: 200 },
        });
  // Former values of the slots on the page, by category and key.
  return { ...page, total, former: Map.groupBy([...memories].reverse(), slotOf) };
}

/** Totals beyond it are not counted. */
const mostCounted = 10_000;

/** Which rows of how many are on the page. */
function Total({ place, page }: Readonly<{ place: Place; page: Listed }>) {
  const { memories, total } = page;
  if (memories.length === 0) return null;
  const first = Number(place.params.row ?? 1);
  const of = total > mostCounted ? `more than ${count(mostCounted)}` : count(total);
  return (
    <p class="faint" role="status">
      {count(first)} to {count(first + memories.length - 1)} of {of}
    </p>
  );
}

function slotOf({ scope, category, key }: Memory): string {
  return JSON.stringify([scope, category, key]);
}

function List({
  page,
  params,
  again,
}: Readonly<{ page: Listed; params: Params; again: () => void }>) {
  const { memories, former } = page;
  if (memories.length === 0) return <p class="note">No memory is like that.</p>;
  return (
    <Choosable rows={memories} actionsOf={actionsOf} again={again}>
      {(box) => (
        <ul class="rows card">
          {memories.map((memory) => (
            <Row
              key={memory.id}
              memory={memory}
              box={box(memory)}
              former={former.get(slotOf(memory)) ?? []}
              params={params}
            />
          ))}
        </ul>
      )}
    </Choosable>
  );
}

function Row({
  memory,
  box,
  former,
  params,
}: Readonly<{
  memory: Memory;
  box: preact.ComponentChildren;
  former: readonly Memory[];
  params: Params;
}>) {
  const { id, scope, kind, category, text, pinned, importance, state, updatedAt } = memory;
  return (
    <li class="memory">
      {box}
      <a href={hrefOf({ view: "memory", params: { ...paramsOf(scope), id } })} class="row plain">
        <Marked text={text.slice(0, lineCharacters)} beginnings={wordsOf(params.words)} />
      </a>
      <p class="faint">
        {nameOf(params) === "" && `${nameOf(paramsOf(scope))} · `}
        <Tag of={titleOf(category)} /> {kind !== "fact" && <Tag of={kind} />}{" "}
        {state !== "active" && <Tag of={state} tone={toneOf(state)} />}{" "}
        {pinned && <Tag of="pinned" tone="good" />}{" "}
        {importance > 3 && `importance ${importance} · `}
        <When at={updatedAt} />
      </p>
      {former.length > 0 && <SlotValues values={[...former, memory]} current={id} />}
    </li>
  );
}
