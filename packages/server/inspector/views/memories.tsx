import type { Memory } from "../api-types.js";
import { ChangeButtons, Choosable } from "../parts/ask-first.js";
import {
  AsOfField,
  Choice,
  Field,
  Filters,
  Pages,
  PastNotice,
  pastTime,
} from "../parts/filters.js";
import { MemoryLink, Page } from "../parts/layout.js";
import { type Ask, QueryResult, useQuery } from "../parts/query.js";
import { count, Marked, Tag, titleOf, When, wordsOf } from "../parts/texts.js";
import { nameOf, type Params, useHere } from "../place.js";
import { actionsOf, writingFor } from "./memory-actions.js";

const kinds = ["fact", "episode", "note", "insight", "procedure"];
const states = ["active", "superseded", "merged", "soft_deleted", "quarantined"];
const sorts = ["newest", "oldest", "updated", "used", "importance"];

/** Memories of a page. */
const pageMemories = 60;
/** Totals beyond it are not counted. */
const maxCounted = 10_000;
/** Characters of a memory that the list shows. */
const lineCharacters = 400;

/** What is known, by category; what is ticked is decided together. */
export function Memories() {
  const { params, owner, isOperator } = useHere();
  const first = Number(params.row ?? 1);
  const listed = useQuery((ask) => readPage(params, ask), [params]);
  return (
    <Page title="Memories" beside={isOperator && <ChangeButtons changes={[writingFor(owner)]} />}>
      <Filters name="words" label="Search memories">
        <Field label="Category" name="category" />
        <Field label="Key" name="key" />
        <Choice name="kind" label="Kind" words={["", ...kinds]} />
        <Choice name="state" label="State" words={[...states, "any"]} />
        <Choice name="sort" label="Sort" words={sorts} />
        {nameOf(owner) !== "" && <AsOfField />}
      </Filters>
      <QueryResult query={listed}>
        {({ memories, total, former, nextCursor, asOf, missing }) => (
          <>
            <PastNotice asOf={asOf} missing={missing} />
            <p class={memories.length === 0 ? "note" : "faint"} role="status">
              {memories.length === 0
                ? "No memory is like that."
                : `${count(first)} to ${count(first + memories.length - 1)}${totalOf(total)}`}
            </p>
            <Choosable rows={memories} actionsOf={asOf ? noActions : actionsOf}>
              {(memory) => <Row memory={memory} former={former.get(slotOf(memory)) ?? []} />}
            </Choosable>
            <Pages next={nextCursor} rows={memories.length} />
          </>
        )}
      </QueryResult>
    </Page>
  );
}

/** What was is not changed. */
const noActions = () => [];

/** Null: not counted. */
function totalOf(total: number | null): string {
  if (total === null) return "";
  return ` of ${total > maxCounted ? "more than " : ""}${count(Math.min(total, maxCounted))}`;
}

async function readPage(params: Params, ask: Ask) {
  const { kind, state = "active", category, key, words, sort, after } = params;
  const which = {
    kinds: kind,
    categories: category,
    keys: key,
    contains: words,
    states: state === "any" ? states : state,
  };
  const isOfOne = nameOf(params) !== "";
  const past = isOfOne ? pastTime(params) : undefined;
  const isNow = past === undefined;
  const [page, counted] = await Promise.all([
    ask("/memories", { query: { ...which, limit: pageMemories, after, sort, asOf: past } }),
    isNow ? ask("/memories/count", { query: which }) : null,
  ]);
  const former = isOfOne && isNow ? await readFormer(page.memories, ask) : [];
  return { ...page, total: counted?.count ?? null, former: Map.groupBy(former, slotOf) };
}

/** Former values of the slots of `memories`, oldest first. */
async function readFormer(memories: readonly Memory[], ask: Ask): Promise<readonly Memory[]> {
  const keys = [...new Set(memories.flatMap(({ key }) => key ?? []))];
  if (keys.length === 0) return [];
  const former = await ask("/memories", { query: { keys, states: "superseded", limit: 200 } });
  return former.memories.reverse();
}

function slotOf({ scope, category, key }: Memory): string {
  return JSON.stringify([scope, category, key]);
}

function Row({ memory, former }: { memory: Memory; former: readonly Memory[] }) {
  const { owner, params } = useHere();
  const { id, scope, kind, category, text, pinned, importance, state, updatedAt } = memory;
  return (
    <>
      <MemoryLink id={id} owner={scope} kind="row plain">
        <Marked text={text.slice(0, lineCharacters)} words={wordsOf(params.words)} />
      </MemoryLink>
      <p class="faint">
        {nameOf(owner) === "" && `${nameOf(scope)} · `}
        <Tag of={titleOf(category)} /> {kind !== "fact" && <Tag of={kind} />}{" "}
        {state !== "active" && <Tag of={state} />} {pinned && <Tag of="pinned" />}{" "}
        {importance > 3 && `importance ${importance} · `}
        <When at={updatedAt} />
      </p>
      {former.length > 0 && <SlotValues values={[...former, memory]} current={id} />}
    </>
  );
}

/** A value that a slot had; a refuted one was taken back by an edit. */
export type SlotValue = Omit<Memory, "state"> & { readonly state: Memory["state"] | "refuted" };

/** The values that a slot had, in one row, oldest first; those that no longer hold are struck. */
export function SlotValues({ values, current }: { values: readonly SlotValue[]; current: string }) {
  return (
    <ol class="slot">
      {values.map(({ id, scope, value, text, state, validFrom }) => (
        <li class={state} aria-current={id === current && state !== "refuted"}>
          <MemoryLink id={id} owner={scope}>
            {(value ?? text).slice(0, 60)}
          </MemoryLink>
          <span class="faint">
            {state === "refuted" ? "refuted; said since " : "since "}
            <When at={validFrom} />
          </span>
        </li>
      ))}
    </ol>
  );
}
