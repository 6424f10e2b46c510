import { useEffect, useRef } from "preact/hooks";
import { ask } from "../api.js";
import type { Memory, MemoryPage } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Pages } from "../parts/pages.js";
import { Tag, toneOf, When } from "../parts/texts.js";
import { go, hrefOf, type Params, type Place, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

const kinds = ["fact", "episode", "note", "insight", "procedure"];
const states = ["active", "superseded", "merged", "soft_deleted", "quarantined"];
const sorts = ["newest", "oldest", "updated", "used", "importance"];

/** Characters of a memory that stand in the table. */
const lineCharacters = 400;

/** What is known of a user or an app, in a table. */
export function Memories({ place }: ViewProps) {
  const { params } = place;
  const { kind, state = "active", category, key, words, sort, cursor } = params;
  const asked = useAsked(
    (signal) =>
      ask<MemoryPage>("memories", {
        ...{ whose: params, signal },
        query: {
          ...{ limit: 50, cursor, kinds: kind, categories: category, keys: key, contains: words, sort },
          states: state === "any" ? states : state,
        },
      }),
    [params],
  );
  return (
    <section aria-label="Memories">
      <Filters place={place} />
      <Answer asked={asked}>
        {({ memories, nextCursor }) => (
          <>
            {memories.length === 0 ? (
              <p class="note">No memory is like that.</p>
            ) : (
              <MemoryTable memories={memories} params={params} />
            )}
            <Pages place={place} next={nextCursor} />
          </>
        )}
      </Answer>
    </section>
  );
}

function Filters({ place }: { readonly place: Place }) {
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const { words = "", category = "", key = "", kind = "", state = "active", sort = "newest" } = place.params;
  const apply = (form: HTMLFormElement) => {
    const given = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    go({ ...place, params: { ...whoseOf(place.params), ...given } });
  };
  return (
    <form
      class="ask"
      key={JSON.stringify(place.params)}
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
      onChange={(event) => {
        if (event.target instanceof HTMLSelectElement) apply(event.currentTarget);
      }}
    >
      <label class="wide">
        Contains
        <input
          ref={search}
          name="words"
          type="search"
          defaultValue={words}
          placeholder="press / to search"
          dir="auto"
        />
      </label>
      <label>
        Category
        <input name="category" defaultValue={category} size={12} />
      </label>
      <label>
        Key
        <input name="key" defaultValue={key} size={12} />
      </label>
      <Choice name="kind" label="Kind" value={kind} words={["", ...kinds]} />
      <Choice name="state" label="State" value={state} words={[...states, "any"]} />
      <Choice name="sort" label="Sort" value={sort} words={sorts} />
      <button type="submit" class="primary">
        Find
      </button>
    </form>
  );
}

function Choice(choice: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly words: readonly string[];
}) {
  return (
    <label>
      {choice.label}
      <select name={choice.name}>
        {choice.words.map((word) => (
          <option key={word} value={word} selected={word === choice.value}>
            {word.replaceAll("_", " ") || "all"}
          </option>
        ))}
      </select>
    </label>
  );
}

function MemoryTable({ memories, params }: { readonly memories: readonly Memory[]; readonly params: Params }) {
  return (
    <div class="scroll">
      <table class="memories" onKeyDown={moveByKey}>
        <caption class="faint">Arrow keys or j and k move, Enter opens, / searches.</caption>
        <thead>
          <tr>
            <th>Memory</th>
            <th>Category</th>
            <th>Kind</th>
            <th class="number">Importance</th>
            <th>State</th>
            <th>Changed</th>
          </tr>
        </thead>
        <tbody>
          {memories.map((memory) => (
            <tr key={memory.id}>
              <th scope="row">
                <a href={hrefOf({ view: "memory", params: { ...whoseOf(params), id: memory.id } })} class="row">
                  <bdi>{memory.text.slice(0, lineCharacters)}</bdi>
                </a>
              </th>
              <td>
                {memory.category}
                {memory.key !== null && <span class="faint"> · {memory.key}</span>}
              </td>
              <td>{memory.kind}</td>
              <td class="number">
                {memory.importance}
                {memory.pinned && <Tag of="pinned" tone="good" />}
              </td>
              <td>
                <Tag of={memory.state} tone={toneOf(memory.state)} />
              </td>
              <td>
                <When at={memory.updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Moves between rows. */
function moveByKey(event: KeyboardEvent): void {
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
  const step = steps[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("a.row")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  event.preventDefault();
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
}
