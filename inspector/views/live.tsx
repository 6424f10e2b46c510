import { useEffect, useState } from "preact/hooks";
import { ask, send } from "../api.js";
import type { Change } from "../api-types.js";
import { Trouble } from "../parts/asked.js";
import { MemoryLink, Tag, When } from "../parts/texts.js";
import { type Params, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** Changes that stay on the page. */
const mostChanges = 200;
/** How long after the end of a stream another is asked for. */
const askAgainMs = 3_000;

interface Changes {
  readonly revision: number;
  readonly changes: readonly Change[];
}

/** What changes in somebody's memory, as it happens. */
export function Live({ place }: ViewProps) {
  const whose = whoseOf(place.params);
  const [changes, setChanges] = useState<readonly Change[]>([]);
  const [how, setHow] = useState("Connecting…");
  const [error, setError] = useState<Error | null>(null);
  const key = JSON.stringify(whose);
  useEffect(() => {
    const abort = new AbortController();
    setChanges([]);
    setError(null);
    const add = (more: readonly Change[]) =>
      setChanges((before) => {
        const known = new Set(before.map(({ rev }) => rev));
        return [...more.filter(({ rev }) => !known.has(rev)).reverse(), ...before].slice(0, mostChanges);
      });
    follow(JSON.parse(key) as Params, { signal: abort.signal, add, tell: setHow }).catch((failure: Error) => {
      if (!abort.signal.aborted) setError(failure);
    });
    return () => abort.abort();
  }, [key]);
  return (
    <section aria-labelledby="live">
      <h2 id="live">Live changes</h2>
      {error ? <Trouble error={error} /> : <p class="faint">{how}</p>}
      <ol class="lines" aria-live="polite" aria-relevant="additions">
        {changes.map(({ rev, event, memoryId, line, at }) => (
          <li key={rev}>
            <span class="faint">{rev}</span> <Tag of={event} />{" "}
            <MemoryLink id={memoryId} whose={whose} text={line} />{" "}
            <span class="faint">
              <When at={at} />
            </span>
          </li>
        ))}
      </ol>
      {changes.length === 0 && !error && <p class="note">Nothing has changed yet.</p>}
    </section>
  );
}

interface Following {
  readonly signal: AbortSignal;
  add(changes: readonly Change[]): void;
  tell(how: string): void;
}

/** Begins with the last changes, and goes on by the server's stream. */
async function follow(whose: Params, { signal, add, tell }: Following): Promise<void> {
  const { revision } = await ask<Changes>("changes", { whose, signal, query: { since: 0, limit: 1 } });
  const begin = Math.max(0, revision - 50);
  let since = begin;
  const got = (changes: readonly Change[]) => {
    since = Math.max(since, ...changes.map(({ rev }) => rev));
    add(changes);
  };
  got((await ask<Changes>("changes", { whose, signal, query: { since, limit: 100 } })).changes);
  while (!signal.aborted) {
    const stream = await send("changes/stream", { whose, signal, query: { since } });
    tell("Live, as the server tells it.");
    await readEvents(stream, (change) => got([change]));
    tell("The server ended the stream; asking again…");
    await new Promise((resolve) => setTimeout(resolve, askAgainMs));
  }
}

/** Calls `got` for each event of a stream of server-sent events. */
async function readEvents({ body }: Response, got: (change: Change) => void): Promise<void> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const events = rest.split(/\r?\n\r?\n/);
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .flatMap((line) => (line.startsWith("data:") ? line.slice(5).trimStart() : []));
      if (data.length > 0) got(JSON.parse(data.join("\n")) as Change);
    }
  }
}
