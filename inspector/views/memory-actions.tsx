import type { ComponentChildren } from "preact";
import { ask, path } from "../api.js";
import type { Memory } from "../api-types.js";
import { type Change, useAskFirst } from "../parts/ask-first.js";
import { type Params, paramsOf } from "../place.js";

/** Something that can be done to one memory, or to each of several. */
export interface MemoryAction {
  readonly does: string;
  readonly danger?: true;
  readonly about?: ComponentChildren;
  of(memory: Memory): (reason: string) => Promise<unknown>;
}

const of = ({ scope, revision }: Memory) => ({ whose: paramsOf(scope), revision });

export const remove: MemoryAction = {
  ...{ does: "Remove", danger: true },
  about: <p>It is hidden from every search at once. For 30 days it can be restored.</p>,
  of: (memory) => (reason) => ask(path`memories/${memory.id}`, { ...of(memory), method: "DELETE", query: { reason } }),
};

export const restore: MemoryAction = {
  does: "Restore",
  of: (memory) => (reason) =>
    ask(path`memories/${memory.id}/restore`, { ...of(memory), method: "POST", body: { reason } }),
};

export const approve: MemoryAction = {
  does: "Approve",
  about: <p>Agents will be shown it, on your word.</p>,
  of: (memory) => (reason) =>
    ask(path`memories/${memory.id}/approve`, { ...of(memory), method: "POST", body: { reason } }),
};

export const reject: MemoryAction = {
  ...{ does: "Reject", danger: true },
  about: <p>It is deleted for good. The audit trail keeps what it was.</p>,
  of: remove.of,
};

const changeOf = (memory: Memory, { does, danger, about, of: act }: MemoryAction): Change => ({
  ...{ title: `${does} this memory`, does, danger: danger ?? false, about, act: act(memory) },
});

/** What can be done about a memory, each for a reason that the audit trail keeps. */
export function MemoryActions({
  memory,
  isOperator,
  whose,
  again,
}: Readonly<{ memory: Memory; isOperator: boolean; whose: Params; again: () => void }>) {
  const { ask: askFirst, dialog } = useAskFirst(again);
  const byState: Readonly<Record<string, readonly Change[]>> = {
    active: [...editActions(memory, whose), changeOf(memory, remove)],
    soft_deleted: [changeOf(memory, restore)],
    quarantined: isOperator ? [changeOf(memory, approve), changeOf(memory, reject)] : [],
  };
  return (
    <div class="buttons">
      {byState[memory.state]?.map((action) => (
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

function editActions(memory: Memory, whose: Params): Change[] {
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
  ];
}
