import type { TurnCost } from "../api-types.js";
import { type InView, type LookedAt, type PromptPart, promptOf } from "../in-view.js";
import { useHere } from "../place.js";
import { Bar } from "./bar.js";
import { ShownLine } from "./delta.js";
import { Rows } from "./layout.js";
import { QueryResult, useAnswer } from "./query.js";
import { count, counted, Words } from "./texts.js";

/** Messages whose sizes are added up. */
const mostMessages = 1_000;

/** The whole prompt in its order, with tokens by part, and how much of it a provider's cache had. */
export function Prompt({ view, cost, summary }: LookedAt & { view: InView }) {
  const { thread = "" } = useHere().params;
  const first = view.opening.firstSeq ?? 0;
  const limit = Math.min(mostMessages, view.turn.seq - first + 1);
  const said = useAnswer("/threads/:threadId/messages", {
    ids: { threadId: thread },
    query: { after: first - 1, limit, mostCharacters: 1 },
  });
  return (
    <section aria-label="The whole prompt">
      <h2>
        The whole prompt
        {cost?.promptTokens != null && (
          <span class="faint">
            {cost.source === "estimate" && "about "}
            {count(cost.promptTokens)} tokens{cost.calls > 1 && ` in ${cost.calls} calls`},{" "}
            {count(cost.outputTokens)} out
          </span>
        )}
      </h2>
      <QueryResult query={said}>
        {({ messages }) => <Parts parts={promptOf(view, messages, summary, cost)} cost={cost} />}
      </QueryResult>
    </section>
  );
}

function Parts({ parts, cost }: { parts: readonly PromptPart[]; cost: TurnCost | undefined }) {
  const whole = parts.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0) || 1;
  const cached = cost?.cachedTokens ?? cost?.sharedTokens ?? null;
  const share =
    cached === null || !cost?.promptTokens ? null : Math.min(1, cached / cost.promptTokens);
  return (
    <>
      <Bar
        parts={parts.map(({ name, tokens }, shade) => ({ name, value: tokens ?? 0, shade }))}
        most={whole}
        covered={(share ?? 0) * whole}
        label={parts.map(({ name, tokens }) => `${name}: ${tokens ?? "?"} tokens`).join(", ")}
      />
      {share !== null && (
        <p class="faint">
          {cost?.cachedTokens === null
            ? `A cache could have had ${count(100 * share)}%: ${count(cached ?? 0)} tokens were sent before. The model does not say what it had.`
            : `A cache had ${count(100 * share)}% of it: ${counted(cached ?? 0, "token")}.`}
        </p>
      )}
      <ol class="parts">
        {parts.map(({ name, tokens, about, lines = [], text = "" }, place) => (
          <li key={name}>
            <details>
              <summary>
                <span class={`key shade-${place}`} /> {name} <span class="faint">{about}</span>
                <span class="number">{tokens === null ? "?" : `≈ ${count(tokens)}`}</span>
              </summary>
              {text !== "" && (
                <p class="text" dir="auto">
                  <Words text={text} />
                </p>
              )}
              <Rows kind="delta" rows={lines}>
                {(line) => <ShownLine key={line.id} line={line} sign="kept" />}
              </Rows>
            </details>
          </li>
        ))}
      </ol>
    </>
  );
}
