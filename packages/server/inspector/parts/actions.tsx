import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Change, ChangeButton } from "./ask-first.js";
import { Rows } from "./layout.js";
import { useAgain } from "./query.js";
import { count, Words } from "./texts.js";

/** Something that can be done to a row, or to each of several, for a reason. */
export interface Action<Row> {
  readonly does: string;
  readonly danger?: boolean;
  readonly about?: string | ((rows: readonly Row[]) => ComponentChildren);
  readonly key?: Change["key"];
  act(row: Row, reason: string): Promise<unknown>;
}

interface Named {
  readonly id: string;
  readonly text: string;
}

/** Rows whose texts are in the dialog. */
const maxListed = 8;

/** A change of all of `rows`; those that are done are not done again when it is tried again. */
export function changeOf<Row extends Named>(
  { does, danger = false, about, key, act }: Action<Row>,
  rows: readonly Row[],
): Change {
  const done = new Set<string>();
  const title = rows.length === 1 ? does : `${does} ${count(rows.length)}`;
  return {
    title,
    does: title,
    danger,
    key,
    about: (
      <>
        {typeof about === "function" ? about(rows) : about && <p>{about}</p>}
        <ul class="lines">
          {rows.slice(0, maxListed).map(({ text }) => (
            <li dir="auto">
              <Words text={text} most={300} />
            </li>
          ))}
          {rows.length > maxListed && <li class="faint">and {rows.length - maxListed} more</li>}
        </ul>
      </>
    ),
    async act(reason) {
      for (const row of rows.filter(({ id }) => !done.has(id))) {
        await act(row, reason).catch((error: Error) => {
          if (done.size > 0)
            error.message = `${done.size} of ${rows.length} are done. ${error.message}`;
          throw error;
        });
        done.add(row.id);
      }
    },
  };
}

/**
 * A list of rows with a box to tick each, and buttons for all that are ticked; with `hasButtons`,
 * for each row too while none is.
 */
export function Choosable<Row extends Named>({
  rows,
  actionsOf,
  hasButtons = false,
  children,
}: {
  rows: readonly Row[];
  actionsOf: (row: Row) => readonly Action<Row>[];
  hasButtons?: boolean;
  children: (row: Row) => ComponentChildren;
}) {
  const again = useAgain();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen = rows.filter(({ id }) => ids.has(id));
  const onDone = () => {
    setIds(new Set());
    again();
  };
  const buttons = (of: readonly Row[]) =>
    commonActions(of.map(actionsOf)).map((action) => {
      const change = changeOf(action, of);
      return <ChangeButton key={change.does} change={change} onDone={onDone} />;
    });
  return (
    <>
      {rows.length > 1 && (
        <label>
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
      <Rows kind={hasButtons ? "rows" : "rows card"} rows={rows}>
        {(row) => (
          <li key={row.id} class="memory" tabIndex={hasButtons ? 0 : undefined}>
            {(rows.length > 1 || !hasButtons) && (
              <input
                type="checkbox"
                aria-label={`Select: ${row.text.slice(0, 80)}`}
                checked={ids.has(row.id)}
                onChange={() => setIds(ids.symmetricDifference(new Set([row.id])))}
              />
            )}
            {children(row)}
            {hasButtons && chosen.length === 0 && <div class="buttons">{buttons([row])}</div>}
          </li>
        )}
      </Rows>
      {chosen.length > 0 && (
        <div class="bulk" role="toolbar" aria-label="With what is selected">
          <strong>{count(chosen.length)} selected</strong> {buttons(chosen)}
          <button type="button" onClick={() => setIds(new Set())}>
            Clear
          </button>
        </div>
      )}
    </>
  );
}

/** Of rows in different states, what can be done to each of them. */
function commonActions<Row>([first = [], ...others]: readonly (readonly Action<Row>[])[]) {
  return first.filter(({ does }) => others.every((all) => all.some((each) => each.does === does)));
}
