import { type InView, type LookedAt, type PromptPart, promptOf } from "../in-view.js";
import { useThread } from "../place.js";
import { Bar } from "./bar.js";
import { ShownLine } from "./delta.js";
import { Card, Rows } from "./layout.js";
import { QueryResult, useAnswer } from "./query.js";
import { count, counted, Words } from "./texts.js";

/** Messages whose sizes are added up. */
const maxMessages = 1_000;

/** The whole prompt in its order, with tokens by part, and how much of it a provider's cache had. */
export function Prompt({ view, cost, summary }: LookedAt & { view: InView }) {
  const first = view.opening.firstSeq ?? 0;
  const limit = Math.min(maxMessages, view.turn.seq - first + 1);
  const said = useAnswer("/threads/:threadId/messages", {
    ...useThread(),
    query: { after: first - 1, limit, maxCharacters: 1 },
  });
  const cached = cost?.cachedTokens ?? cost?.sharedTokens ?? null;
  const share =
    cached === null || !cost?.promptTokens ? null : Math.min(1, cached / cost.promptTokens);
  return (
    <Card
      title="The whole prompt"
      kind=""
      beside={
        cost?.promptTokens != null && (
          <span class="faint">
            {cost.source === "estimate" && "about "}
            {count(cost.promptTokens)} tokens{cost.calls > 1 && ` in ${cost.calls} calls`},{" "}
            {count(cost.outputTokens)} out
          </span>
        )
      }
    >
      {share !== null && (
        <p class="faint">
          {cost?.cachedTokens === null
            ? `A cache could have had ${count(100 * share)}%: ${count(cached ?? 0)} tokens were sent before. The model does not say what it had.`
            : `A cache had ${count(100 * share)}% of it: ${counted(cached ?? 0, "token")}.`}
        </p>
      )}
      <QueryResult query={said}>
        {({ messages }) => (
          <Parts parts={promptOf(view, messages, summary, cost)} share={share ?? 0} />
        )}
      </QueryResult>
    </Card>
  );
}

/** The parts as a bar, of which a share is covered, and with what is in them. */
function Parts({ parts, share }: { parts: readonly PromptPart[]; share: number }) {
  const whole = parts.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0) || 1;
  return (
    <>
      <Bar
        parts={parts.map(({ name, tokens }, shade) => ({ name, value: tokens ?? 0, shade }))}
        most={whole}
        covered={share * whole}
        label={parts.map(({ name, tokens }) => `${name}: ${tokens ?? "?"} tokens`).join(", ")}
      />
      <ol class="parts">
        {parts.map(({ name, tokens, about, lines = [], text = "" }, place) => (
          <li>
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
