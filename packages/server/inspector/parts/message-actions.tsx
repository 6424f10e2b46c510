import { ask } from "../api.js";
import type { Message } from "../api-types.js";
import { useThread } from "../place.js";
import { ChangeButtons } from "./ask-first.js";

/** Buttons that change one message everywhere, or remove it. */
export function MessageActions({
  message: { messageId },
  text,
}: {
  message: Message;
  text: string;
}) {
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
