import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Change, useAskFirst } from "./ask-first.js";
import { count, Words } from "./texts.js";

/** Something that can be done to a row, or to each of several, for a reason. */
export interface Action<Row> {
  readonly does: string;
  readonly danger?: true;
  readonly about?: string | ((rows: readonly Row[]) => ComponentChildren);
  of(row: Row, reason: string): Promise<unknown>;
}

interface Named {
  readonly id: string;
  readonly text: string;
}

/** Rows whose texts stand in the dialog. */
const mostTold = 8;

/** A change of all of `rows`; those that are done are not done again when it is tried again. */
export function changeOf<Row extends Named>(
  { does, danger, about, of }: Action<Row>,
  rows: readonly Row[],
): Change {
  const done = new Set<string>();
  const title = rows.length === 1 ? does : `${does} ${count(rows.length)}`;
  return {
    ...{ title, does: title, danger: danger ?? false },
    about: (
      <>
        {typeof about === "function" ? about(rows) : about && <p>{about}</p>}
        <ul class="lines">
          {rows.slice(0, mostTold).map(({ id, text }) => (
            <li key={id} dir="auto">
              <Words text={text} most={300} />
            </li>
          ))}
          {rows.length > mostTold && <li class="faint">and {rows.length - mostTold} more</li>}
        </ul>
      </>
    ),
    async act(reason) {
      for (const row of rows.filter(({ id }) => !done.has(id))) {
        await of(row, reason).catch((error: Error) => {
          if (done.size > 0)
            error.message = `${done.size} of ${rows.length} are done. ${error.message}`;
          throw error;
        });
        done.add(row.id);
      }
    },
  };
}

/** Rows with a box to tick each, and buttons for one of them, or for all that are ticked. */
export function Choosable<Row extends Named>({
  rows,
  actionsOf,
  again,
  children,
}: Readonly<{
  rows: readonly Row[];
  actionsOf: (row: Row) => readonly Action<Row>[];
  again: () => void;
  children: (
    box: (row: Row) => ComponentChildren,
    buttons: (row: Row) => ComponentChildren,
  ) => ComponentChildren;
}>) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen = rows.filter(({ id }) => ids.has(id));
  const { ask: askFirst, dialog } = useAskFirst(() => {
    setIds(new Set());
    again();
  });
  const box = (row: Row) => (
    <input
      type="checkbox"
      aria-label={`Select: ${row.text.slice(0, 80)}`}
      checked={ids.has(row.id)}
      onChange={() => setIds(ids.symmetricDifference(new Set([row.id])))}
    />
  );
  const buttons = (of: readonly Row[]) => {
    const [first, ...others] = of.map(actionsOf);
    // Of rows in different states, what can be done to each of them.
    const actions =
      first?.filter(({ does }) => others.every((all) => all.some((each) => each.does === does))) ??
      [];
    return actions.map((action) => {
      const change = changeOf(action, of);
      return (
        <button
          key={change.does}
          type="button"
          class={change.danger ? "bad" : undefined}
          onClick={() => askFirst(change)}
        >
          {change.does}
        </button>
      );
    });
  };
  return (
    <>
      {rows.length > 1 && (
        <label class="inline">
          <input
            type="checkbox"
            checked={chosen.length === rows.length}
            onChange={({ currentTarget: { checked } }) =>
              setIds(new Set(checked ? rows.map(({ id }) => id) : []))
            }
          />
          Select all {rows.length}
        </label>
      )}
      {children(box, (row) => chosen.length === 0 && <div class="buttons">{buttons([row])}</div>)}
      {chosen.length > 0 && (
        <div class="bulk" role="toolbar" aria-label="With what is selected">
          <strong>{count(chosen.length)} selected</strong> {buttons(chosen)}
          <button type="button" onClick={() => setIds(new Set())}>
            Clear
          </button>
        </div>
      )}
      {dialog}
    </>
  );
}
