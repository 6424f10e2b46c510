import { useEffect } from "preact/hooks";
import { MemoryLink, Page } from "../parts/layout.js";
import { type Ask, QueryResult, useQuery } from "../parts/query.js";
import { Tag, When } from "../parts/texts.js";

/** Changes that are shown. */
const maxChanges = 100;
/** How often the API is asked, in ms: people who watch do not notice two seconds. */
const askEveryMs = 2_000;

/** What changes in somebody's memory, while one looks. */
export function ChangesView() {
  const latest = useQuery(readChanges);
  useEffect(() => {
    const timer = setInterval(latest.again, askEveryMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <Page title="Changes" beside={<span class="faint">as they come</span>}>
      <QueryResult query={latest}>
        {(changes) => (
          <ol class="rows card" aria-live="polite" aria-relevant="additions">
            {changes.map(({ rev, event, memoryId, line, at }) => {
              // As a model reads it, with its category before it and its importance behind.
              const [, category = "", text = line] =
                /^\[(.+?)\] (.*?)(?: \(imp=\d\))?$/.exec(line) ?? [];
              return (
                <li key={rev} class="thread">
                  <MemoryLink id={memoryId} kind="row plain">
                    {text}
                  </MemoryLink>
                  <p class="faint who">
                    <Tag of={event} /> {category} · change {rev}
                  </p>
                  <p class="faint when">
                    <When at={at} withTime />
                  </p>
                </li>
              );
            })}
            {changes.length === 0 && <li class="note">Nothing has changed yet.</li>}
          </ol>
        )}
      </QueryResult>
    </Page>
  );
}

/** The latest changes, newest first. */
async function readChanges(ask: Ask) {
  const { revision } = await ask("/changes", { query: { since: 0, limit: 1 } });
  const since = Math.max(0, revision - maxChanges);
  const { changes } = await ask("/changes", { query: { since, limit: maxChanges } });
  return changes.reverse();
}
