import { useState } from "preact/hooks";
import type { Summary } from "../api-types.js";
import { count, Difference, Tag, When, Words } from "./texts.js";

/** Versions that the strip draws; older ones are reached from the oldest of them. */
export const stripVersions = 40;

/**
 * The versions of a conversation's summary as steps over its messages; one opens its text, and what
 * changed in it.
 */
export function SummaryStrip({
  summaries,
  messages,
}: {
  summaries: readonly Summary[];
  messages: number;
}) {
  const [chosen, setChosen] = useState<number | null>(null);
  const inUse = summaries.findLast(({ status }) => status === "completed");
  if (summaries.length === 0) return null;
  const tail = messages - 1 - (summaries.at(-1)?.endSeq ?? 0);
  const opened = summaries.find(({ id }) => id === chosen);
  return (
    <section aria-label="Summary history">
      <h2>Summary history</h2>
      <div class="strip">
        {summaries.map(({ id, startSeq, endSeq, status }, place) => (
          <button
            key={id}
            type="button"
            class={`${status} ${id === inUse?.id ? "in-use" : ""}`}
            style={{ flexGrow: endSeq - (summaries[place - 1]?.endSeq ?? startSeq - 1) }}
            aria-expanded={id === chosen}
            onClick={() => setChosen(id === chosen ? null : id)}
          >
            Version {id}, to message {count(endSeq)}
            {id === inUse?.id && ", in use"}
          </button>
        ))}
        {tail > 0 && (
          <span class="faint" style={{ flexGrow: tail }}>
            {tail > 3 && `${count(tail)} word for word`}
          </span>
        )}
      </div>
      {opened && (
        <Version
          summary={opened}
          base={summaries.find(({ id }) => id === opened.baseId)}
          isInUse={opened === inUse}
        />
      )}
    </section>
  );
}

function Version({
  summary,
  base,
  isInUse,
}: {
  summary: Summary;
  base: Summary | undefined;
  isInUse: boolean;
}) {
  const { id, status, startSeq, endSeq, text, error, generationTimeMs, createdAt } = summary;
  return (
    <div class="card version" tabIndex={0} role="region" aria-label={`Version ${id}`}>
      <h3>
        Version {id} <Tag of={isInUse ? "in use" : status} />{" "}
        <span class="faint">
          messages {count(startSeq)} to {count(endSeq)} · <When at={createdAt} />
          {generationTimeMs !== null && ` in ${count(generationTimeMs)} ms`}
        </span>
      </h3>
      {error && (
        <p class="trouble">
          <Words text={error} />
        </p>
      )}
      {text !== null && base?.text != null && (
        <details open>
          <summary>What changed since version {base.id}</summary>
          <Difference before={base.text} after={text} />
        </details>
      )}
      {text && (
        <details open={base?.text == null}>
          <summary>The whole text</summary>
          <p class="text" dir="auto">
            <Words text={text} most={20_000} />
          </p>
        </details>
      )}
    </div>
  );
}
