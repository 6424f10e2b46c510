import { ask, path } from "../api.js";
import type { Memory } from "../api-types.js";
import { type Action, changeOf } from "../parts/actions.js";
import { type Change, useAskFirst } from "../parts/ask-first.js";
import { ForgetRequests } from "../parts/forget-requests.js";
import { type Params, paramsOf } from "../place.js";

const of = ({ scope, revision }: Memory) => ({ whose: paramsOf(scope), revision });
const post = (does: string) => (memory: Memory, reason: string) =>
  ask(path`memories/${memory.id}/${does}`, { ...of(memory), method: "POST", body: { reason } });

const remove: Action<Memory> = {
  ...{ does: "Remove", danger: true },
  about: "It is hidden from every search at once. For 30 days it can be restored.",
  of: (memory, reason) =>
    ask(path`memories/${memory.id}`, { ...of(memory), method: "DELETE", query: { reason } }),
};
const restore: Action<Memory> = {
  does: "Restore",
  about: (memories) => <ForgetRequests memories={memories} />,
  of: post("restore"),
};
const approve: Action<Memory> = {
  ...{ does: "Approve", about: "Agents will be shown it, on your word." },
  of: post("approve"),
};
const reject: Action<Memory> = {
  ...{
    does: "Reject",
    danger: true,
    about: "It is deleted for good. The audit trail keeps what it was.",
  },
  of: remove.of,
};
const byState: Readonly<Record<string, readonly Action<Memory>[]>> = {
  ...{ active: [remove], soft_deleted: [restore], quarantined: [approve, reject] },
};

/** What can be done to each of several memories. */
export const actionsOf = ({ state }: Memory): readonly Action<Memory>[] => byState[state] ?? [];

/** What can be done about a memory, each for a reason that the audit trail keeps. */
export function MemoryActions({
  memory,
  isOperator,
  whose,
  again,
}: Readonly<{ memory: Memory; isOperator: boolean; whose: Params; again: () => void }>) {
  const { ask: askFirst, dialog } = useAskFirst(again);
  const actions = [
    ...(memory.state === "active" ? editActions(memory, whose) : []),
    ...(memory.state === "quarantined" && !isOperator
      ? []
      : actionsOf(memory).map((action) => changeOf(action, [memory]))),
  ];
  return (
    <div class="buttons">
      {actions.map((action) => (
        <button
          key={action.does}
          type="button"
          class={action.danger ? "bad" : undefined}
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
      ...{
        title: pinned ? "Unpin this memory" : "Pin this memory",
        does: pinned ? "Unpin" : "Pin",
      },
      about: <p>Pinned memories are never forgotten by age.</p>,
      act: (reason) => patch({ pinned: !pinned }, reason),
    },
  ];
}
