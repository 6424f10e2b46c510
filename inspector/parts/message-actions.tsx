import { ask, path } from "../api.js";
import type { Message } from "../api-types.js";
import { type Place, whoseOf } from "../place.js";
import { useAskFirst } from "./ask-first.js";

/** Buttons that change one message everywhere, or remove it. */
export function MessageActions({
  message: { messageId },
  text,
  place,
  again,
}: Readonly<{ message: Message; text: string; place: Place; again: () => void }>) {
  const { ask: askFirst, dialog } = useAskFirst(again);
  const to = path`threads/${place.params.thread ?? ""}/messages/${messageId}`;
  const whose = whoseOf(place.params);
  const replace = () =>
    askFirst({
      ...{ title: "Replace this message?", does: "Replace", reason: false as const },
      fields: { text: { label: "Its new words", value: text, long: true } },
      about: <p>What was learned from the old words alone is closed, and can be restored.</p>,
      act: (_, { text: next = "" }) => ask(to, { method: "PATCH", whose, body: { text: next } }),
    });
  const remove = () =>
    askFirst({
      ...{ title: "Remove this message?", does: "Remove for good", danger: true },
      reason: false as const,
      about: <p>It goes with what was learned from it alone. Nothing brings them back.</p>,
      act: () => ask(to, { method: "DELETE", whose }),
    });
  return (
    <div class="buttons">
      <button type="button" class="plain" onClick={replace}>
        Replace…
      </button>
      <button type="button" class="plain" onClick={remove}>
        Remove…
      </button>
      {dialog}
    </div>
  );
}
