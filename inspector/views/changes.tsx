import { useEffect } from "preact/hooks";
import { ask } from "../api.js";
import type { Change } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Head, MemoryLink, Tag, When } from "../parts/texts.js";
import { type Params, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** Changes that are shown. */
const mostChanges = 100;
/** How often the API is asked, in ms: people who watch do not notice two seconds. */
const askEveryMs = 2_000;

/** What changes in somebody's memory, while one looks. */
export function ChangesView({ place }: ViewProps) {
  const whose = whoseOf(place.params);
  const asked = useAsked((signal) => readChanges(whose, signal), [whose]);
  useEffect(() => {
    const timer = setInterval(asked.again, askEveryMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <section class="narrow" aria-label="Changes">
      <Head title="Changes">
        <span class="faint">as they come</span>
      </Head>
      <Answer asked={asked}>
        {(changes) => (
          <ol class="rows card" aria-live="polite" aria-relevant="additions">
            {changes.map(({ rev, event, memoryId, line, at }) => (
              <li key={rev}>
                <MemoryLink id={memoryId} whose={whose} text={line} />
                <p class="faint">
                  <Tag of={event} tone={event === "created" ? "good" : "plain"} /> <When at={at} />{" "}
                  · change {rev}
                </p>
              </li>
            ))}
            {changes.length === 0 && <li class="note">Nothing has changed yet.</li>}
          </ol>
        )}
      </Answer>
    </section>
  );
}

/** The latest changes, newest first. */
async function readChanges(whose: Params, signal: AbortSignal): Promise<readonly Change[]> {
  const read = (since: number, limit: number) =>
    ask<{ readonly revision: number; readonly changes: readonly Change[] }>("changes", {
      ...{ whose, signal, query: { since, limit } },
    });
  const { revision } = await read(0, 1);
  return [...(await read(Math.max(0, revision - mostChanges), mostChanges)).changes].reverse();
}
