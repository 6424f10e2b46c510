import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Message, SharedWords, ShownMemory } from "../api-types.js";
import { type InView, missingFrom } from "../in-view.js";
import { type Params, useHere } from "../place.js";
import { Card, MemoryLink, Rows, ThreadLink } from "./layout.js";
import { counted, Marked, When } from "./texts.js";

/** Why a line of each part is shown. */
const whyOfPart: Readonly<Record<string, string>> = {
  profile: "always shown",
  notes: "note of the app, always shown",
  rest: "there was room",
  relevant: "fits",
  episodes: "episode that fits",
  related: "linked with one that fits",
  told: "a change, told as it came",
};

const originNames: Readonly<Record<string, string>> = {
  user: "said by the user",
  assistant: "said by an agent",
  worker: "worked out in the background",
  operator: "vouched for by an operator",
  tool: "from a tool",
  document: "from a document",
  import: "imported",
  unknown: "written by code",
};

/** What found a memory, by the signal that has a part in its score. */
const foundBy = {
  vector: "by meaning",
  sourceMessage: "by the message it was learned from",
  identifier: "by an identifier",
  date: "by its day",
  speaker: "by who said it",
} as const;

/** Names of signals that say more than the code's. */
export const signalNames: Partial<Record<string, string>> = {
  vector: "meaning",
  sourceMessage: "source message",
};

/** What the search found a memory by, as its score says; nothing where no parts were kept. */
function howItFits(
  parts: Readonly<Record<string, number | undefined>> | null,
  question: readonly string[],
): string {
  const words = question.length > 0 ? `by ${question.slice(0, 5).join(", ")}` : "by its words";
  const reasons = Object.entries({ words, ...foundBy })
    .filter(([signal]) => (parts?.[signal] ?? 0) > 0)
    .map(([, reason]) => reason);
  return reasons.length === 0 ? "" : ` ${reasons.join(", ")}`;
}

function scoreText({ score, scoreParts }: ShownMemory): string {
  if (score === null) return "";
  const parts = Object.entries(scoreParts ?? {}).map(
    ([signal, part]) => `${signalNames[signal] ?? signal} ${(part ?? 0).toFixed(2)}`,
  );
  return ` · score ${score.toFixed(2)}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}

/**
 * A line that a model is shown, and why: always, or what the search found it by; how old it is, and
 * who said it. Words that the answer shares with it are marked too.
 */
export function ShownLine({
  line,
  sign,
  owner,
  words: { question = [], answer = [] } = {},
  children,
}: {
  line: ShownMemory;
  sign: "added" | "updated" | "gone" | "kept";
  /** @default the owner that is looked at */
  owner?: Params;
  words?: Partial<SharedWords> | undefined;
  children?: ComponentChildren;
}) {
  const { id, part, text, createdAt, origin, scoreParts } = line;
  const isByWords = (scoreParts?.words ?? 0) > 0;
  const marked = { question: isByWords ? question : [], answer };
  return (
    <li class={sign}>
      <MemoryLink id={id} owner={owner}>
        {text === null ? "(removed since)" : <Marked text={text} words={marked} />}
      </MemoryLink>
      <p class="faint">
        {children || (
          <>
            <strong>
              {whyOfPart[part] ?? part}
              {howItFits(scoreParts, question)}
            </strong>
            {scoreText(line)}
            {createdAt && (
              <>
                {" · "}
                <When at={createdAt} />
              </>
            )}
            {origin && ` · ${originNames[origin] ?? origin}`}
          </>
        )}
        {answer.length > 0 && ` · in the answer: ${answer.slice(0, 5).join(", ")}`}
      </p>
    </li>
  );
}

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
