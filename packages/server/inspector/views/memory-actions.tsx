import { useEffect, useState } from "preact/hooks";
import { ask } from "../api.js";
import type { HistoryEntry, Memory, Path, Trailed } from "../api-types.js";
import { type Action, changeOf } from "../parts/actions.js";
import { type Change, ChangeButtons } from "../parts/ask-first.js";
import { ForgetRequest } from "../parts/forget-requests.js";
import { ErrorNotice, useAgain } from "../parts/query.js";
import { go, type Params, useHere } from "../place.js";

const callOf = ({ id, scope, revision }: Memory) => ({
  ids: { id },
  owner: scope,
  revision,
});

const postTo = (path: Path) => (memory: Memory, reason: string) =>
  ask(path, { ...callOf(memory), method: "post", body: { reason } });
const deleteIt = (memory: Memory, reason: string) =>
  ask("/memories/:id", { ...callOf(memory), method: "delete", query: { reason } });
const remove: Action<Memory> = {
  does: "Remove",
  danger: true,
  about:
    "It is hidden from every search at once. It can be restored until the time that its page says.",
  act: deleteIt,
};
const confirm: Action<Memory> = {
  does: "It still holds",
  about: "Prompts no longer say that it may not hold.",
  act: postTo("/memories/:id/confirm"),
};
const restore: Action<Memory> = {
  does: "Restore",
  about: (memories) => memories.map((each) => <ForgetRequest key={each.id} memory={each} />),
  act: postTo("/memories/:id/restore"),
};
const approve: Action<Memory> = {
  does: "Approve",
  key: "a",
  about: "Agents will be shown it, on your word.",
  act: postTo("/memories/:id/approve"),
};
const reject: Action<Memory> = {
  does: "Reject",
  key: "r",
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
export function actionsOf({ state, doubtedAt }: Memory): readonly Action<Memory>[] {
  const actions = byState[state] ?? [];
  return doubtedAt === null ? actions : [confirm, ...actions];
}

/** So long a deed can be undone. */
const undoMs = 10_000;

/** What can be done about a memory, each for a reason that the audit trail keeps, and undone. */
export function MemoryActions({ memory, events: [latest] }: Trailed) {
  const { isOperator } = useHere();
  const again = useAgain();
  /** What was the latest entry before the deed. */
  const [before, setBefore] = useState<HistoryEntry>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    const timer = setTimeout(setBefore, undoMs, undefined);
    return () => clearTimeout(timer);
  }, [before]);
  const changes = memory.state === "active" ? editsOf(memory) : [];
  if (memory.state !== "quarantined" || isOperator)
    for (const action of actionsOf(memory)) changes.push(changeOf(action, [memory]));
  const onDone = () => {
    // The end of a doubt, or of a removal, is no content that comes back.
    if (memory.state === "active" && memory.doubtedAt === null) setBefore(latest);
    again();
  };
  const undo = () => {
    setBefore(undefined);
    const body = { to: before?.id, reason: "Undone at once" };
    ask("/memories/:id/revert", { ...callOf(memory), method: "post", body }).then(again, setError);
  };
  return (
    <ChangeButtons changes={changes} onDone={onDone}>
      {error && <ErrorNotice error={error} />}
      {before && (
        <button type="button" onClick={undo}>
          Undo
        </button>
      )}
    </ChangeButtons>
  );
}

function editsOf(memory: Memory): Change[] {
  const { pinned } = memory;
  const patch = (body: object) =>
    ask("/memories/:id", { ...callOf(memory), method: "patch", body });
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

/** Why a memory was not written, by the outcome. */
const refusals: Readonly<Record<string, string>> = {
  rejected: "This cannot be a memory.",
  kept: "The value of this key has more weight. Edit that memory, if this is right.",
  proposed: "This needs the user's consent or a second signal. Decide the request under Waiting.",
  refused: "The user refused this a short time ago.",
};

/** A memory that an operator writes by hand; then the page shows it. */
export const writingFor = (owner: Params): Change => ({
  title: "Write a memory",
  does: "Write",
  opens: "Write a memory",
  fields: {
    userId: { label: "User", value: owner.userId },
    appId: { label: "App", value: owner.appId },
    category: { label: "Category", value: "knowledge" },
    key: { label: "Key" },
    value: { label: "Value" },
    text: { label: "Text", long: true },
  },
  async act(reason, { userId, appId, category, key, value, text }) {
    const target = { ...owner, userId, appId };
    const memory = { text, category, key: key || undefined, value: value || undefined };
    const body = { memories: [memory], reason };
    const { outcomes } = await ask("/memories", { method: "post", owner: target, body });
    const { outcome = "rejected", message, id, further } = outcomes[0] ?? {};
    const refusal = message ?? refusals[outcome];
    if (refusal) throw new Error(refusal);
    // A long text becomes several memories.
    go(further ? "memories" : "memory", { ...target, id: id ?? "" });
  },
});
