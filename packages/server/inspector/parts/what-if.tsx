import { useState } from "preact/hooks";
import type { Replayed, ShownTurn } from "../api-types.js";
import { useThread } from "../place.js";
import { Card, Rows } from "./layout.js";
import { QueryResult, useAnswer } from "./query.js";
import { counted, Spoken, Words } from "./texts.js";

/** What is asked of a turn: lines that are left out, lines that are added, memory of today. */
interface Asked {
  readonly without: readonly string[];
  readonly with: readonly string[];
  readonly memory: "then" | "today";
  readonly ask: boolean;
}

const asItWas: Asked = { without: [], with: [], memory: "then", ask: false };

/** Characters of a message that are shown. */
const maxCharacters = 4_000;

interface OfTurn {
  readonly turn: ShownTurn;
}

/** The turn again, without some of its lines or with others: its messages, and both answers. */
export function WhatIf({ turn }: OfTurn) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card title="Would it have said this without …?" kind="">
      {isOpen ? (
        <Lines turn={turn} />
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          Show the messages of this turn
        </button>
      )}
    </Card>
  );
}

function useReplay({ turn, seq }: ShownTurn, asked: Asked) {
  return useAnswer("/threads/:threadId/replay", {
    ...useThread(),
    method: "post",
    body: { turn, seq, ...asked },
  });
}

/** What the form asks of a turn with these lines. */
function askedIn({ currentTarget, submitter }: SubmitEvent, lines: Replayed["lines"]): Asked {
  const form = new FormData(currentTarget as HTMLFormElement, submitter);
  const kept = form.getAll("kept");
  const without = lines.map(({ line }) => line).filter((line) => !kept.includes(line));
  const added = String(form.get("added")).split("\n");
  return {
    without,
    with: added.filter((line) => line.trim() !== ""),
    memory: form.has("today") ? "today" : "then",
    ask: form.has("ask"),
  };
}

/** The lines to untick, and what is asked of the turn without them. */
function Lines({ turn }: OfTurn) {
  const was = useReplay(turn, asItWas);
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <QueryResult query={was}>
      {(replayed) => (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            setAsked(askedIn(event, replayed.lines));
          }}
        >
          <Gaps replayed={replayed} />
          <Rows kind="lines" rows={replayed.lines} none="No line of memory was shown.">
            {({ id, line }) => (
              <li key={`${id} ${line}`}>
                <label dir="auto">
                  <input type="checkbox" name="kept" value={line} defaultChecked />
                  <Words text={line} most={300} />
                </label>
              </li>
            )}
          </Rows>
          <label>
            Lines to add
            <textarea name="added" rows={2} />
          </label>
          <label>
            <input type="checkbox" name="today" />
            With what is found today
          </label>
          <div class="buttons">
            <button type="submit">Show the messages</button>
            {replayed.canAsk && (
              <button type="submit" name="ask">
                Ask the model for both answers
              </button>
            )}
          </div>
          {asked === null ? <Outcome {...replayed} /> : <Changed turn={turn} asked={asked} />}
        </form>
      )}
    </QueryResult>
  );
}

/** Why the messages are not what was handed on. */
function Gaps({ replayed: { complete, gaps } }: { replayed: Replayed }) {
  if (complete)
    return <p class="faint">The messages are what the model was handed, word for word.</p>;
  const alike = Map.groupBy(gaps, ({ what, why }) => `${what} ${why}`);
  const why = [...alike].map(([gap, { length }]) => (length > 1 ? `${gap} (${length})` : gap));
  return <p class="note">Not as they were handed on: {why.join(", ")}.</p>;
}

function Changed({ turn, asked }: OfTurn & { asked: Asked }) {
  return <QueryResult query={useReplay(turn, asked)}>{Outcome}</QueryResult>;
}

function Outcome({ messages, changed, answers }: Replayed) {
  return (
    <div role="status">
      {answers && <Answer title="Answer to the messages as they were" {...answers.asShown} />}
      {answers?.changed && <Answer title="Answer to the changed messages" {...answers.changed} />}
      <Messages
        title={changed ? "The changed messages" : "The messages, as they were"}
        messages={changed ?? messages}
      />
    </div>
  );
}

type Answered = NonNullable<Replayed["answers"]>["asShown"];

function Answer({ title, text, toolCalls, error }: Answered & { title: string }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {error !== null && <p class="note">{error}</p>}
      <Spoken text={text} most={maxCharacters} />
      {toolCalls.length > 0 && (
        <p class="faint">It would call {toolCalls.join(", ")}: tools are not run.</p>
      )}
    </section>
  );
}

function Messages({ title, messages }: { title: string; messages: Replayed["messages"] }) {
  return (
    <details>
      <summary>
        {title} <span class="faint">{counted(messages.length, "message")}</span>
      </summary>
      <ol class="rows">
        {messages.map(({ role, name, content, tool_calls = [] }) => (
          <li>
            <strong>{name ?? role}</strong>
            <Spoken text={textIn(content)} most={maxCharacters} />
            {tool_calls.length > 0 && (
              <p class="faint">calls {tool_calls.map((call) => call.name).join(", ")}</p>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

const textIn = (content: unknown): string =>
  typeof content === "string" ? content : JSON.stringify(content, null, 1);
