import { ask, path } from "../api.js";
import type { Memory } from "../api-types.js";
import { type Change, useAskFirst } from "../parts/ask-first.js";
import type { Params } from "../place.js";

/** What can be done about a memory, each for a reason that the audit trail keeps. */
export function MemoryActions({
  memory,
  whose,
  again,
}: {
  readonly memory: Memory;
  readonly whose: Params;
  readonly again: () => void;
}) {
  const { ask: askFirst, dialog } = useAskFirst(again);
  const actions =
    memory.state === "active"
      ? activeActions(memory, whose)
      : memory.state === "soft_deleted"
        ? [restore(memory, whose)]
        : [];
  if (actions.length === 0) return null;
  return (
    <div class="buttons">
      {actions.map((action) => (
        <button
          key={action.does}
          type="button"
          class={action.danger ? "danger" : undefined}
          onClick={() => askFirst(action)}
        >
          {action.does}
        </button>
      ))}
      {dialog}
    </div>
  );
}

function activeActions(memory: Memory, whose: Params): Change[] {
  const { id, pinned, revision } = memory;
  const patch = (fields: object, reason: string) =>
    ask(path`memories/${id}`, { method: "PATCH", whose, revision, body: { ...fields, reason } });
  return [
    {
      ...{ title: "Edit this memory", does: "Edit" },
      fields: {
        text: { label: "Text", value: memory.text, long: true },
        ...(memory.value !== null && { value: { label: "Value", value: memory.value } }),
        importance: { label: "Importance, 1 to 5", value: String(memory.importance) },
      },
      act: (reason, { text = "", value, importance = "" }) => {
        const changed = {
          ...(text !== memory.text && { text }),
          ...(value !== undefined && value !== memory.value && { value }),
          ...(Number(importance) !== memory.importance && { importance: Number(importance) }),
        };
        if (Object.keys(changed).length === 0) throw new Error("Nothing is different.");
        return patch(changed, reason);
      },
    },
    {
      ...{ title: pinned ? "Unpin this memory" : "Pin this memory", does: pinned ? "Unpin" : "Pin" },
      about: <p>Pinned memories are never forgotten by age.</p>,
      act: (reason) => patch({ pinned: !pinned }, reason),
    },
    {
      ...{ title: "Remove this memory", does: "Remove", danger: true },
      about: <p>It is hidden from every search at once. For 30 days it can be restored.</p>,
      act: (reason) => ask(path`memories/${id}`, { method: "DELETE", whose, revision, query: { reason } }),
    },
  ];
}

function restore({ id, revision }: Memory, whose: Params): Change {
  return {
    ...{ title: "Restore this memory", does: "Restore" },
    act: (reason) => ask(path`memories/${id}/restore`, { method: "POST", whose, revision, body: { reason } }),
  };
}
