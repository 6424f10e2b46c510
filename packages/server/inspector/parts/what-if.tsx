import { useState } from "preact/hooks";
import type { Replayed, ShownTurn } from "../api-types.js";
import { useHere } from "../place.js";
import { Card, Rows } from "./layout.js";
import { type Ask, QueryResult, useQuery } from "./query.js";
import { Spoken } from "./spoken.js";
import { counted, Words } from "./texts.js";

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

/** The turn again, without some of its lines or with others: its messages, and both answers. */
export function WhatIf({ turn }: { turn: Pick<ShownTurn, "turn" | "seq"> }) {
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

function replay({ turn, seq }: Pick<ShownTurn, "turn" | "seq">, thread: string, asked: Asked) {
  return (ask: Ask) =>
    ask("/threads/:threadId/replay", {
      method: "post",
      ids: { threadId: thread },
      body: { turn, seq, ...asked },
    });
}

/** The lines to untick, and what is asked of the turn without them. */
function Lines({ turn }: { turn: Pick<ShownTurn, "turn" | "seq"> }) {
  const { thread = "" } = useHere().params;
  const was = useQuery(replay(turn, thread, asItWas), [thread, turn.seq]);
  const [out, setOut] = useState<ReadonlySet<string>>(new Set());
  const [added, setAdded] = useState("");
  const [isToday, setToday] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const look = (ask: boolean) =>
    setAsked({
      without: [...out],
      with: added.split("\n").filter((line) => line.trim() !== ""),
      memory: isToday ? "today" : "then",
      ask,
    });
  const tick = (line: string, isIn: boolean) => {
    const next = new Set(out);
    if (isIn) next.delete(line);
    else next.add(line);
    setOut(next);
  };
  return (
    <QueryResult query={was}>
      {(replayed) => (
        <>
          <Gaps replayed={replayed} />
          <Rows kind="lines" rows={replayed.lines} none="No line of memory was shown.">
            {({ id, line }) => (
              <li key={`${id} ${line}`}>
                <label dir="auto">
                  <input
                    type="checkbox"
                    checked={!out.has(line)}
                    onChange={({ currentTarget }) => tick(line, currentTarget.checked)}
                  />{" "}
                  <Words text={line} most={300} />
                </label>
              </li>
            )}
          </Rows>
          <label>
            Lines to add
            <textarea rows={2} onInput={({ currentTarget }) => setAdded(currentTarget.value)} />
          </label>
          <label class="inline">
            <input
              type="checkbox"
              onChange={({ currentTarget }) => setToday(currentTarget.checked)}
            />
            With what is found today
          </label>
          <div class="buttons">
            <button type="button" onClick={() => look(false)}>
              Show the messages
            </button>
            {replayed.canAsk && (
              <button type="button" onClick={() => look(true)}>
                Ask the model for both answers
              </button>
            )}
          </div>
          {asked === null ? (
            <Messages title="The messages, as they were" messages={replayed.messages} />
          ) : (
            <Changed key={JSON.stringify(asked)} turn={turn} asked={asked} />
          )}
        </>
      )}
    </QueryResult>
  );
}

/** Why the messages are not what was handed on. */
function Gaps({ replayed: { complete, gaps } }: { replayed: Replayed }) {
  if (complete)
    return <p class="faint">The messages are what the model was handed, word for word.</p>;
  const counts = new Map<string, number>();
  for (const { what, why } of gaps)
    counts.set(`${what} ${why}`, (counts.get(`${what} ${why}`) ?? 0) + 1);
  const why = [...counts].map(([gap, times]) => (times > 1 ? `${gap} (${times})` : gap)).join(", ");
  return <p class="note">Not as they were handed on: {why}.</p>;
}

function Changed({ turn, asked }: { turn: Pick<ShownTurn, "turn" | "seq">; asked: Asked }) {
  const { thread = "" } = useHere().params;
  const found = useQuery(replay(turn, thread, asked), [thread, turn.seq]);
  return (
    <QueryResult query={found}>
      {({ messages, changed, answers }) => (
        <div role="status">
          {answers && (
            <>
              <Answer title="Answer to the messages as they were" answer={answers.asShown} />
              {answers.changed && (
                <Answer title="Answer to the changed messages" answer={answers.changed} />
              )}
            </>
          )}
          {changed ? (
            <Messages title="The changed messages" messages={changed} />
          ) : (
            <Messages title="The messages, as they were" messages={messages} />
          )}
        </div>
      )}
    </QueryResult>
  );
}

type Answered = NonNullable<Replayed["answers"]>["asShown"];

function Answer({ title, answer }: { title: string; answer: Answered }) {
  const { text, toolCalls, error } = answer;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {error !== null && <p class="note">{error}</p>}
      <div class="text" dir="auto">
        <Spoken text={text} most={maxCharacters} />
      </div>
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
        {messages.map(({ role, name, content, tool_calls = [] }, place) => (
          <li key={`${place}`}>
            <strong>{name ?? role}</strong>
            <div class="text" dir="auto">
              <Spoken text={textIn(content)} most={maxCharacters} />
            </div>
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
