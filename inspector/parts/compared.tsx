import { useEffect, useState } from "preact/hooks";
import type { ShownMemory } from "../api-types.js";
import { type LookedAt, missingFrom } from "../in-view.js";
import { hrefOf, type Params, whoseOf } from "../place.js";
import { ShownLine } from "./delta.js";
import { counted, When } from "./texts.js";

/** A turn that others are compared with, as it was when it was chosen. */
interface Chosen {
  readonly params: Params;
  readonly seq: number;
  readonly turn: number;
  readonly at: string;
  readonly question: string;
  readonly lines: ReadonlyMap<string, ShownMemory>;
}

let chosen: Chosen | null = null;
const watchers = new Set<(now: Chosen | null) => void>();

function choose(turn: Chosen | null): void {
  chosen = turn;
  for (const tell of watchers) tell(turn);
}

function useChosen(): Chosen | null {
  const [now, setNow] = useState(chosen);
  useEffect(() => {
    watchers.add(setNow);
    return () => void watchers.delete(setNow);
  }, []);
  return now;
}

/**
 * Chooses a turn to compare with; beside every other turn, also of other conversations, what only one
 * of the two prompts had.
 */
export function Compared({ view, question, params }: LookedAt) {
  const other = useChosen();
  if (!view) return null;
  const thread = params.thread ?? "";
  const { turn, lines } = view;
  const own: Chosen = {
    ...{ params: { ...whoseOf(params), thread }, seq: turn.seq, turn: turn.turn, at: turn.at },
    ...{ question: question?.text ?? "", lines },
  };
  const isChosen = other?.seq === own.seq && other.params.thread === thread;
  if (other === null || isChosen) {
    return (
      <p class="buttons">
        <button type="button" onClick={() => choose(isChosen ? null : own)}>
          {isChosen ? "Do not compare" : "Compare with another turn"}
        </button>
        {isChosen && (
          <span class="faint" role="status">
            Now choose the other turn, here or in any conversation.
          </span>
        )}
      </p>
    );
  }
  const both = lines.size - missingFrom(lines.values(), other.lines).length;
  return (
    <section aria-label="Two turns compared">
      <h2>
        Two turns compared
        <button type="button" class="plain" onClick={() => choose(null)}>
          Do not compare
        </button>
      </h2>
      <p class="faint">{counted(both, "line")} in both prompts.</p>
      <div class="pair">
        <OnlyIn turn={other} without={own} />
        <OnlyIn turn={own} without={other} />
      </div>
    </section>
  );
}

/** A turn, and the lines that only its prompt had. */
function OnlyIn({ turn, without }: Readonly<{ turn: Chosen; without: Chosen }>) {
  const only = missingFrom(turn.lines.values(), without.lines);
  const { params, seq } = turn;
  const at = String(seq);
  return (
    <div>
      <h3>
        <a href={hrefOf({ view: "thread", params: { ...params, at, around: at } })}>
          Turn {turn.turn} of <bdi>{params.thread}</bdi>
        </a>
      </h3>
      <p class="faint">
        <When at={turn.at} withTime /> · <bdi>{turn.question.slice(0, 200)}</bdi>
      </p>
      {only.length === 0 && <p class="note">No line that the other lacks.</p>}
      <ul class="delta">
        {only.map((line) => (
          <ShownLine key={line.id} line={line} sign="added" whose={whoseOf(params)} />
        ))}
      </ul>
    </div>
  );
}
