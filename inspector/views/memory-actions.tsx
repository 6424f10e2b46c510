import { ask } from "../api.js";
import type { Memory, Path } from "../api-types.js";
import { type Action, changeOf } from "../parts/actions.js";
import { type Change, ChangeButtons } from "../parts/ask-first.js";
import { ForgetRequest } from "../parts/forget-requests.js";
import { type Params, paramsOf, useHere } from "../place.js";

const callOf = ({ id, scope, revision }: Memory) => ({
  ids: { id },
  owner: paramsOf(scope),
  revision,
});

const postTo = (path: Path) => (memory: Memory, reason: string) =>
  ask(path, { ...callOf(memory), method: "post", body: { reason } });
const deleteIt = (memory: Memory, reason: string) =>
  ask("/memories/:id", { ...callOf(memory), method: "delete", query: { reason } });
const remove: Action<Memory> = {
  does: "Remove",
  danger: true,
  about: "It is hidden from every search at once. For 30 days it can be restored.",
  act: deleteIt,
};
const restore: Action<Memory> = {
  does: "Restore",
  about: (memories) => memories.map((each) => <ForgetRequest key={each.id} memory={each} />),
  act: postTo("/memories/:id/restore"),
};
const approve: Action<Memory> = {
  does: "Approve",
  about: "Agents will be shown it, on your word.",
  act: postTo("/memories/:id/approve"),
};
const reject: Action<Memory> = {
  does: "Reject",
  danger: true,
  about: "It is deleted for good. The audit trail keeps what it was.",
  act: deleteIt,
};
const byState: Partial<Record<Memory["state"], readonly Action<Memory>[]>> = {
  active: [remove],
  soft_deleted: [restore],
  quarantined: [approve, reject],
};

/** What can be done to each of several memories. */
export const actionsOf = ({ state }: Memory): readonly Action<Memory>[] => byState[state] ?? [];

/** What can be done about a memory, each for a reason that the audit trail keeps. */
export function MemoryActions({ memory }: { memory: Memory }) {
  const { isOperator, owner } = useHere();
  const changes = memory.state === "active" ? editsOf(memory, owner) : [];
  if (memory.state !== "quarantined" || isOperator)
    for (const action of actionsOf(memory)) changes.push(changeOf(action, [memory]));
  return <ChangeButtons changes={changes} />;
}

function editsOf(memory: Memory, owner: Params): Change[] {
  const { pinned } = memory;
  const patch = (body: object) =>
    ask("/memories/:id", { ...callOf(memory), owner, method: "patch", body });
  return [
    {
      title: "Edit this memory",
      does: "Edit",
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
        return patch({ ...changed, reason });
      },
    },
    {
      title: pinned ? "Unpin this memory" : "Pin this memory",
      does: pinned ? "Unpin" : "Pin",
      about: <p>Pinned memories are never forgotten by age.</p>,
      act: (reason) => patch({ pinned: !pinned, reason }),
    },
  ];
}
