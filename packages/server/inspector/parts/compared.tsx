import { useState } from "preact/hooks";
import type { Message } from "../api-types.js";
import { type InView, missingFrom } from "../in-view.js";
import { type Params, useHere } from "../place.js";
import { ShownLine } from "./delta.js";
import { Card, Rows, ThreadLink } from "./layout.js";
import { counted, When } from "./texts.js";

/** A turn that others are compared with, as it was when it was chosen. */
interface Chosen {
  readonly owner: Params;
  readonly thread: string;
  readonly view: InView;
  readonly question: string;
}

/** Kept from conversation to conversation. */
let kept: Chosen | null = null;

/**
 * Chooses a turn to compare with; beside every other turn, also of other conversations, what only one
 * of the two prompts had.
 */
export function Compared({ view, question }: { view: InView; question: Message | undefined }) {
  const [other, setOther] = useState(kept);
  const choose = (turn: Chosen | null) => {
    kept = turn;
    setOther(turn);
  };
  const { owner, params } = useHere();
  const { thread = "" } = params;
  const own: Chosen = { owner, thread, view, question: question?.text ?? "" };
  const isChosen = other?.view.turn.seq === view.turn.seq && other.thread === thread;
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
  const { lines } = view;
  const both = lines.size - missingFrom(lines.values(), other.view.lines).length;
  return (
    <Card
      title="Two turns compared"
      kind=""
      beside={
        <button type="button" class="plain" onClick={() => choose(null)}>
          Do not compare
        </button>
      }
    >
      <p class="faint">{counted(both, "line")} in both prompts.</p>
      <div class="pair">
        <OnlyIn shown={other} without={own} />
        <OnlyIn shown={own} without={other} />
      </div>
    </Card>
  );
}

/** A turn, and the lines that only its prompt had. */
function OnlyIn({ shown, without }: { shown: Chosen; without: Chosen }) {
  const { owner, thread, question } = shown;
  const { turn, lines } = shown.view;
  return (
    <div>
      <h3>
        <ThreadLink owner={owner} thread={thread} seq={turn.seq}>
          Turn {turn.turn} of <bdi>{thread}</bdi>
        </ThreadLink>
      </h3>
      <p class="faint">
        <When at={turn.at} withTime /> · <bdi>{question.slice(0, 200)}</bdi>
      </p>
      <Rows
        kind="delta"
        rows={missingFrom(lines.values(), without.view.lines)}
        none="No line that the other lacks."
      >
        {(line) => <ShownLine key={line.id} line={line} sign="added" owner={owner} />}
      </Rows>
    </div>
  );
}
