import { useEffect, useState } from "preact/hooks";
import { ask } from "../api.js";
import type { Change } from "../api-types.js";
import { Trouble } from "../parts/asked.js";
import { Head, MemoryLink, Tag, When } from "../parts/texts.js";
import { type Params, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** Changes that stay on the page. */
const mostChanges = 200;
/** How often the API is asked for more, in ms: people who watch do not notice two seconds. */
const askEveryMs = 2_000;

interface Changes {
  readonly revision: number;
  readonly changes: readonly Change[];
}

/** What changes in somebody's memory, while one looks. */
export function ChangesView({ place }: ViewProps) {
  const whose = whoseOf(place.params);
  const [changes, setChanges] = useState<readonly Change[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const key = JSON.stringify(whose);
  useEffect(() => {
    const abort = new AbortController();
    let timer: number | undefined;
    let since: number | null = null;
    setChanges([]);
    const poll = async () => {
      try {
        const found = await readChanges(JSON.parse(key) as Params, since, abort.signal);
        since = found.since;
        setChanges((before) => [...[...found.changes].reverse(), ...before].slice(0, mostChanges));
        setError(null);
      } catch (failure) {
        if (abort.signal.aborted) return;
        setError(failure as Error);
      }
      timer = setTimeout(poll, askEveryMs);
    };
    void poll();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return (
    <section class="narrow" aria-label="Changes">
      <Head title="Changes">
        <span class="faint">as they come</span>
      </Head>
      {error && <Trouble error={error} />}
      <ol class="rows card" aria-live="polite" aria-relevant="additions">
        {changes.map(({ rev, event, memoryId, line, at }) => (
          <li key={rev}>
            <MemoryLink id={memoryId} whose={whose} text={line} />
            <p class="faint">
              <Tag of={event} tone={event === "created" ? "good" : "plain"} /> <When at={at} /> · change {rev}
            </p>
          </li>
        ))}
      </ol>
      {changes.length === 0 && !error && <p class="note">Nothing has changed yet.</p>}
    </section>
  );
}

/** The changes after `since`, or the latest, and the cursor of the next call. */
async function readChanges(whose: Params, since: number | null, signal: AbortSignal) {
  const read = (after: number, limit: number) =>
    ask<Changes>("changes", { whose, signal, query: { since: after, limit } });
  const after = since ?? Math.max(0, (await read(0, 1)).revision - mostChanges);
  const { changes } = await read(after, mostChanges);
  return { changes, since: changes.at(-1)?.rev ?? after };
}
