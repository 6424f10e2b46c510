import { ask, type Call, orNull } from "../api.js";
import type { HistoryEntry, Memory, Trailed } from "../api-types.js";
import { type Action, type Change, ChangeButtons, changeOf } from "../parts/ask-first.js";
import { type Ask, QueryResult, useQuery } from "../parts/query.js";
import { When, Words } from "../parts/texts.js";
import { go, type Params, useHere } from "../place.js";

const callOf = ({ id, scope, revision }: Memory) => ({
  ids: { id },
  owner: scope,
  revision,
});

const postTo =
  (path: "/memories/:id/confirm" | "/memories/:id/restore" | "/memories/:id/approve") =>
  (memory: Memory, reason: string) =>
    ask(path, { ...callOf(memory), method: "post", body: { reason } });
const deleteIt = (memory: Memory, reason: string) =>
  ask("/memories/:id", { ...callOf(memory), method: "delete", query: { reason } });
const restoreIt = postTo("/memories/:id/restore");

/** The reason of an undoing, in the audit trail. */
const undone = "Undone at once";

/** Gives a memory what it had after an entry of its audit trail. */
export const revertTo = (memory: Memory, to: number | undefined, reason = undone) =>
  ask("/memories/:id/revert", { ...callOf(memory), method: "post", body: { to, reason } });

const remove: Action<Memory> = {
  does: "Remove",
  danger: true,
  about:
    "It is hidden from every search at once, and so are insights that rest on it. Each can be restored until the time that its page says.",
  act: deleteIt,
  undo: (removed) => restoreIt(removed, undone),
};
const confirm: Action<Memory> = {
  does: "It still holds",
  about: "Prompts no longer say that it may not hold. This cannot be undone.",
  act: postTo("/memories/:id/confirm"),
};
const restore: Action<Memory> = {
  does: "Restore",
  about: (memories) => memories.map((each) => <ForgetRequest key={each.id} memory={each} />),
  act: restoreIt,
  undo: (restored) => deleteIt(restored, undone),
};
const approve: Action<Memory> = {
  does: "Approve",
  key: "a",
  about:
    "Agents will be shown it, on your word. It does not come back here: who was wrong removes it.",
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

/** What can be done about a memory, each for a reason that the audit trail keeps. */
export function MemoryActions({ memory, events: [latest] }: Trailed) {
  const { isOperator } = useHere();
  const changes = memory.state === "active" ? editsOf(memory, latest) : [];
  if (memory.state !== "quarantined" || isOperator)
    for (const action of actionsOf(memory)) changes.push(changeOf(action, [memory]));
  return <ChangeButtons changes={changes} />;
}

/** @param latest the entry of its audit trail that undoing leads back to */
function editsOf(memory: Memory, latest: HistoryEntry | undefined): Change[] {
  const { pinned, doubtedAt } = memory;
  const patch = async (body: object) => {
    const changed = await ask("/memories/:id", { ...callOf(memory), method: "patch", body });
    // A doubt that has ended is no content that comes back.
    return doubtedAt === null && (() => revertTo(changed, latest?.id));
  };
  const final = doubtedAt !== null && "The doubt about it ends, and cannot be undone.";
  return [
    {
      title: "Edit this memory",
      does: "Edit",
      about: final && <p>{final}</p>,
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
      about: <p>Pinned memories are never forgotten by age. {final}</p>,
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

/** A memory's audit trail, newest first; one that came without it has none. */
export async function readHistory(ask: Ask, call: Call): Promise<readonly HistoryEntry[]> {
  const history = await orNull(ask("/memory/:id/history", call));
  return (history?.events ?? []) as HistoryEntry[];
}

/** Warns of a removed memory that its user asked to forget, in the user's words. */
export function ForgetRequest({ memory }: { memory: Memory }) {
  const { id, scope, state, revision } = memory;
  const found = useQuery(
    async (ask) => {
      if (state !== "soft_deleted") return null;
      const call = { ids: { id }, owner: scope };
      const events = await readHistory(ask, call);
      return events.find(({ event }) => event === "DELETE") ?? null;
    },
    [id, revision],
  );
  return (
    <QueryResult query={found}>
      {(removal) => {
        const quote = removal?.new?.evidence?.quote;
        if (!removal || !quote) return null;
        return (
          <div class="trouble">
            <p role="alert">
              The user asked to forget this (<When at={removal.at} />
              ). It would come back against these words:
            </p>
            <blockquote dir="auto">
              <Words text={quote} />
            </blockquote>
          </div>
        );
      }}
    </QueryResult>
  );
}
