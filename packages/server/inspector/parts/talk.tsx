import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api.js";
import type { Message } from "../api-types.js";
import { hrefOf, useHere, useThread } from "../place.js";
import { ChangeButtons } from "./ask-first.js";
import { DoButton } from "./do-button.js";
import { count, Spoken, Tag, When } from "./texts.js";

/** Longest text of a message that comes with its page. */
export const maxCharacters = 2_000;

/** A user's message and everything that answers it. */
export interface Turn {
  readonly seq: number;
  readonly messages: readonly Message[];
}

/** Messages as turns. */
export function turnsOf(messages: readonly Message[]): readonly Turn[] {
  const turns: { seq: number; messages: Message[] }[] = [];
  for (const message of messages) {
    const turn = turns.at(-1);
    if (message.role === "user" || turn === undefined)
      turns.push({ seq: message.seq, messages: [message] });
    else turn.messages.push(message);
  }
  return turns;
}

/** What was said in a turn; a click or Enter shows beside it what the model was shown. */
export function TurnOfTalk({
  turn: { seq, messages },
  mark,
  isSelected,
  children,
}: {
  turn: Turn;
  /** What its line says besides when it was. */
  mark: string;
  isSelected: boolean;
  children: preact.ComponentChildren;
}) {
  const article = useRef<HTMLElement>(null);
  const { view, params } = useHere();
  // Where the talk scrolls by itself, its last turn is selected from the start.
  const isWide = matchMedia("(min-width: 900px)").matches;
  const isSought = isSelected && (params.at !== undefined || isWide);
  useEffect(() => {
    if (isSought) article.current?.scrollIntoView({ block: "nearest" });
  }, [isSought]);
  const href = hrefOf(view, { ...params, at: String(seq) });
  // Going back leads out of the conversation, not through its turns.
  const select = () => location.replace(href);
  return (
    <article
      ref={article}
      class={isSelected ? "turn selected" : "turn"}
      onPointerUp={isSelected ? undefined : select}
    >
      <a
        class="row turn-line"
        href={href}
        aria-current={isSelected}
        onFocus={select}
        onClick={(event) => event.preventDefault()}
      >
        <When at={messages[0]?.saidAt ?? null} withTime /> <span>{mark}</span>
      </a>
      {messages.map((message) => (
        <Said
          key={message.seq}
          message={message}
          isPointed={String(message.seq) === params.around}
          hasActions={isSelected}
        />
      ))}
      {children}
    </article>
  );
}

const calling = /^\[calls (\S+) (.*)\]$/;

function Said({
  message,
  isPointed,
  hasActions,
}: {
  message: Message;
  isPointed: boolean;
  hasActions: boolean;
}) {
  const thread = useThread();
  const { seq, role, actor, text, characters } = message;
  const [whole, setWhole] = useState<string | null>(null);
  const readAll = async () => {
    const { messages } = await ask("/threads/:threadId/messages", {
      ...thread,
      query: { limit: 1, after: seq - 1 },
    });
    setWhole(messages[0]?.text ?? "");
  };
  // Not its length, in which an emoji counts twice.
  const isCut = whole === null && characters > [...text].length;
  const isCall = (line: string) => role === "assistant" && calling.test(line);
  const lines = (whole ?? text).split("\n");
  const spoken = lines.filter((line) => !isCall(line)).join("\n");
  const words = (
    <Spoken text={spoken} most={whole?.length ?? maxCharacters} scrolls={whole !== null} />
  );
  return (
    <div
      class={`message ${role}${isPointed ? " pointed" : ""}`}
      role="group"
      aria-label={`${role}, message ${seq}`}
    >
      {(actor !== null || isPointed) && (
        <p class="faint">
          <bdi>{actor}</bdi> {isPointed && <Tag of="found" />}
        </p>
      )}
      {role === "tool" ? (
        <details>
          <summary>Result: {text.slice(0, 60)}</summary>
          {words}
        </details>
      ) : (
        spoken !== "" && words
      )}
      {lines.filter(isCall).map((line) => {
        const [, name = "", args = ""] = calling.exec(line) ?? [];
        return (
          <details>
            <summary>
              Calls <code>{name}</code>
            </summary>
            <code>{args}</code>
          </details>
        );
      })}
      {isCut && (
        <DoButton does={`Show all ${count(characters)} characters`} kind="plain" act={readAll} />
      )}
      {hasActions && !isCut && (role === "user" || role === "assistant") && (
        <MessageActions message={message} text={spoken} />
      )}
    </div>
  );
}

/** Buttons that change one message everywhere, or remove it. */
function MessageActions({ message: { messageId }, text }: { message: Message; text: string }) {
  const { owner, ids } = useThread();
  const of = { owner, ids: { ...ids, messageId } };
  const path = "/threads/:threadId/messages/:messageId";
  return (
    <ChangeButtons
      kind="plain"
      changes={[
        {
          title: "Replace this message?",
          opens: "Replace…",
          does: "Replace",
          reason: false,
          fields: { text: { label: "Its new words", value: text, long: true } },
          about: <p>What was learned from the old words alone is closed, and can be restored.</p>,
          act: (_, values) =>
            ask(path, { ...of, method: "patch", body: { text: values.text ?? "" } }),
        },
        {
          title: "Remove this message?",
          opens: "Remove…",
          does: "Remove for good",
          danger: true,
          reason: false,
          about: <p>It goes with what was learned from it alone. Nothing brings them back.</p>,
          act: () => ask(path, { ...of, method: "delete" }),
        },
      ]}
    />
  );
}
