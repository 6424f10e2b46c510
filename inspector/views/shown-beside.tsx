import { useState } from "preact/hooks";
import { ask } from "../api.js";
import type { Memory, ShownMemory, ShownTurn } from "../api-types.js";
import { Trouble } from "../parts/asked.js";
import { count, counted, MemoryLink, Words } from "../parts/texts.js";
import { hrefOf, type Params, whoseOf } from "../place.js";

/** What a turn was shown of memory, in the words of today, and what it would be shown now. */
export function ShownBeside({
  turn,
  question,
  params,
}: {
  readonly turn: ShownTurn | undefined;
  readonly question: string;
  readonly params: Params;
}) {
  return (
    <aside class="shown">
      <h3>{turn ? "Memory that the model was shown" : "What was shown is not kept"}</h3>
      {turn && <Shown turn={turn} whose={whoseOf(params)} />}
      {question !== "" && <AsItWouldBe question={question} params={params} />}
    </aside>
  );
}

function Block({ text }: { readonly text: string }) {
  return (
    <pre class="block" dir="auto" tabIndex={0} role="region" aria-label="Memory block">
      <Words text={text} most={4_000} />
    </pre>
  );
}

function Shown({ turn, whose }: { readonly turn: ShownTurn; readonly whose: Params }) {
  const { memories, omitted, summaryId } = turn;
  if (memories.length === 0) {
    return <p class="note">{summaryId === null ? "Nothing was shown." : `Only summary ${summaryId} was shown.`}</p>;
  }
  return (
    <>
      <Block text={blockOf(memories)} />
      <p class="faint">
        In the words of today.{summaryId !== null && ` Summary ${summaryId} was shown as well.`}
        {omitted > 0 && ` ${count(omitted)} more were known and not shown.`}
      </p>
      <details>
        <summary>The {counted(memories.length, "memory", "memories")} in it</summary>
        <ul class="lines">
          {memories.map(({ id, part, text, score }) => (
            <li key={id + part}>
              <span class="faint">{part}</span> <MemoryLink id={id} whose={whose} text={text ?? removed} />{" "}
              {score !== null && <span class="faint">score {score.toFixed(3)}</span>}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

const removed = "(removed since)";

/** The memories part by part, in the order in which they were shown. */
function blockOf(memories: readonly ShownMemory[]): string {
  const parts = [...new Set(memories.map(({ part }) => part))];
  const linesOf = (name: string) =>
    memories.flatMap(({ part, text }) => (part === name ? [`- ${text ?? removed}`] : []));
  return parts.map((part) => [`${part}:`, ...linesOf(part)].join("\n")).join("\n\n");
}

interface Recalled {
  readonly block: string | null;
  readonly memories: { readonly relevant: readonly { readonly memory: Memory; readonly score: number }[] };
}

/** What the same question would be shown now, marked as such. */
function AsItWouldBe({ question, params }: { readonly question: string; readonly params: Params }) {
  const [now, setNow] = useState<Recalled | Error | null>(null);
  const whose = whoseOf(params);
  const recall = async () => {
    const body = { threadId: params.thread ?? "", query: question, mode: "active" };
    setNow(await ask<Recalled>("recall", { method: "POST", whose, body }).catch((error: Error) => error));
  };
  return (
    <details
      onToggle={() => {
        if (now === null) void recall();
      }}
    >
      <summary>As it would be now</summary>
      {now instanceof Error && <Trouble error={now} />}
      {now !== null && !(now instanceof Error) && (
        <>
          <p class="note">This is what the question would be shown today, not what it was shown.</p>
          {now.block === null ? <p class="note">Nothing.</p> : <Block text={now.block} />}
        </>
      )}
      <p>
        <a
          href={hrefOf({
            view: "question",
            params: { ...whose, question: question.slice(0, 500), thread: params.thread ?? "" },
          })}
        >
          Why? Take the scores apart
        </a>
      </p>
    </details>
  );
}
