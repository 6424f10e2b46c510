import { useState } from "preact/hooks";
import { ask } from "../api.js";
import type { Memory, ShownTurn } from "../api-types.js";
import { Trouble } from "../parts/asked.js";
import { count, MemoryLink, Words } from "../parts/texts.js";
import { hrefOf, type Params, whoseOf } from "../place.js";

/** What a round was shown of memory: as it was where that was kept, else which memories, else what it would be now. */
export function ShownBeside({
  turn,
  question,
  params,
}: {
  readonly turn: ShownTurn | undefined;
  readonly question: string;
  readonly params: Params;
}) {
  const whose = whoseOf(params);
  return (
    <aside class="shown">
      <h3>{turn ? "Memories that were shown" : "What was shown is not kept"}</h3>
      {turn && <ShownMemories turn={turn} whose={whose} />}
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

function ShownMemories({ turn, whose }: { readonly turn: ShownTurn; readonly whose: Params }) {
  const { memories, leftOut, summaryId } = turn;
  if (memories.length === 0) {
    return (
      <p class="note">{summaryId === null ? "Nothing was shown." : `Only summary ${summaryId} was shown.`}</p>
    );
  }
  return (
    <>
      <ul class="lines">
        {memories.map(({ id, part, text, score }) => (
          <li key={id + part}>
            <span class="faint">{part}</span>{" "}
            <MemoryLink id={id} whose={whose} text={text ?? "(removed since)"} />{" "}
            {score !== null && <span class="faint">score {score.toFixed(3)}</span>}
          </li>
        ))}
      </ul>
      <p class="faint">
        In the words of today. {leftOut > 0 && `${count(leftOut)} more were known and not shown.`}
      </p>
    </>
  );
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
