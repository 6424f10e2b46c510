import { ask, path } from "../api.js";
import type { Summary } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { count, Difference, Tag, toneOf, When, Words } from "../parts/texts.js";
import { hrefOf, type Place, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** Versions of a page. */
const pageVersions = 40;

/** How a conversation became summaries: the versions, and the text of each. */
export function Summaries({ place }: ViewProps) {
  const { params } = place;
  const { thread = "" } = params;
  const whose = whoseOf(params);
  const asked = useAsked(
    (signal) =>
      ask<{ readonly summaries: readonly Summary[] }>(path`threads/${thread}/summaries`, {
        ...{ whose, query: { limit: pageVersions, before: params.older }, signal },
      }),
    [whose, thread, params.older],
  );
  return (
    <section aria-label={`Summaries of ${thread}`}>
      <h2>
        Summaries of <bdi>{thread}</bdi>
      </h2>
      <p class="links">
        <a href={hrefOf({ view: "thread", params: { ...whose, thread } })}>The conversation</a>
      </p>
      <Answer asked={asked}>
        {({ summaries }) =>
          summaries.length === 0 ? (
            <p class="note">
              No summary yet: the first one is made from the fifth message on, where a model is configured.
            </p>
          ) : (
            <>
              <Versions place={place} summaries={summaries} />
              <VersionPages place={place} summaries={summaries} />
              <Version place={place} summaries={summaries} />
            </>
          )
        }
      </Answer>
    </section>
  );
}

function VersionPages({ place, summaries }: { readonly place: Place; readonly summaries: readonly Summary[] }) {
  const { older, version: _, ...params } = place.params;
  const oldest = summaries[0]?.id;
  if (older === undefined && summaries.length < pageVersions) return null;
  return (
    <nav class="pages" aria-label="Pages of versions">
      {summaries.length === pageVersions && (
        <a href={hrefOf({ ...place, params: { ...params, older: String(oldest) } })}>← Older versions</a>
      )}
      {older !== undefined && <a href={hrefOf({ ...place, params })}>Latest versions</a>}
    </nav>
  );
}

/** The version that is in use: the last that is complete. */
function inUse(summaries: readonly Summary[]): Summary | undefined {
  return summaries.findLast(({ status }) => status === "completed");
}

function Versions({ place, summaries }: { readonly place: Place; readonly summaries: readonly Summary[] }) {
  const current = inUse(summaries);
  return (
    <ol class="lines">
      {summaries.map((summary) => (
        <li key={summary.id}>
          <a href={hrefOf({ ...place, params: { ...place.params, version: String(summary.id) } })}>
            Version {summary.id}
          </a>{" "}
          <Tag of={summary.status} tone={toneOf(summary.status)} />{" "}
          {summary === current && <Tag of="in use" tone="good" />}{" "}
          <span class="faint">
            messages {count(summary.startSeq)}–{count(summary.endSeq)}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Version({ place, summaries }: { readonly place: Place; readonly summaries: readonly Summary[] }) {
  const current = inUse(summaries);
  const chosen = summaries.find(({ id }) => String(id) === place.params.version) ?? current ?? summaries.at(-1);
  if (!chosen) return null;
  const base = summaries.find(({ id }) => id === chosen.baseId);
  const { id, status, startSeq, endSeq, text, error, generationTimeMs, createdAt } = chosen;
  return (
    <section class="version" aria-label={`Version ${id}`}>
      <h3>
        Version {id} <Tag of={status} tone={toneOf(status)} /> {chosen === current && <Tag of="in use" tone="good" />}
      </h3>
      <p class="faint">
        messages {count(startSeq)}–{count(endSeq)} · made <When at={createdAt} />
        {generationTimeMs !== null && ` in ${count(generationTimeMs)} ms`}
        {chosen.baseId !== null && ` · made from version ${chosen.baseId}`}
      </p>
      {error !== null && (
        <p class="trouble">
          <Words text={error} />
        </p>
      )}
      {text !== null && (
        <p class="text" dir="auto">
          <Words text={text} most={20_000} />
        </p>
      )}
      {text !== null && base?.text != null && (
        <details open>
          <summary>What is different from version {base.id}</summary>
          <Difference before={base.text} after={text} />
        </details>
      )}
    </section>
  );
}
