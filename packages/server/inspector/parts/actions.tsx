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
  readonly reason?: false;
  /** Answers the row as it is then. */
  act(row: Row, reason: string): Promise<Row>;
  /** @default `about` says that it is final */
  undo?(changed: Row): Promise<unknown>;
}

interface Named {
  readonly id: string;
  /** What stands for it in dialogs. */
  readonly text?: string;
}

/** Rows whose texts are in the dialog. */
const maxListed = 8;

/** Does one after the other; those that are done are not done again when it is tried again. */
function oneByOne<Row, Done>(rows: readonly Row[]) {
  const done: Done[] = [];
  return async (act: (row: Row) => Promise<Done>): Promise<readonly Done[]> => {
    for (const row of rows.slice(done.length)) {
      const after = await act(row).catch((error: Error) => {
        if (done.length > 0)
          error.message = `${done.length} of ${rows.length} are done. ${error.message}`;
        throw error;
      });
      done.push(after);
    }
    return done;
  };
}

/** A change of all of `rows`. */
export function changeOf<Row extends Named>(
  { does, danger = false, about, key, reason, act, undo }: Action<Row>,
  rows: readonly Row[],
): Change {
  const doEach = oneByOne<Row, Row>(rows);
  const title = rows.length === 1 ? does : `${does} ${count(rows.length)}`;
  return {
    title,
    does: title,
    danger,
    key,
    ...(reason === false && { reason }),
    about: (
      <>
        {typeof about === "function" ? about(rows) : about && <p>{about}</p>}
        <ul class="lines">
          {rows.slice(0, maxListed).map(({ text = "" }) => (
            <li dir="auto">
              <Words text={text} most={300} />
            </li>
          ))}
          {rows.length > maxListed && <li class="faint">and {rows.length - maxListed} more</li>}
        </ul>
      </>
    ),
    async act(reason) {
      const changed = await doEach((row) => act(row, reason));
      const undoEach = oneByOne<Row, unknown>(changed);
      return undo && (() => undoEach(undo));
    },
  };
}

/**
 * A list of rows with a box to tick each that something can be done to, and buttons for all that are
 * ticked; with `hasButtons`, for each row too while none is.
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
  const open = rows.filter((row) => actionsOf(row).length > 0);
  const chosen = open.filter(({ id }) => ids.has(id));
  const hasBoxes = open.length > 1 || !hasButtons;
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
      {open.length > 1 && (
        <label>
          <input
            type="checkbox"
            checked={chosen.length === open.length}
            onChange={({ currentTarget: { checked } }) =>
              setIds(new Set(checked ? open.map(({ id }) => id) : []))
            }
          />
          Select all {open.length}
        </label>
      )}
      <Rows kind={hasButtons ? "rows" : "rows card"} rows={rows}>
        {(row) => (
          <li key={row.id} class="memory" tabIndex={hasButtons ? 0 : undefined}>
            {hasBoxes && open.includes(row) && (
              <input
                type="checkbox"
                aria-label={`Select: ${row.text?.slice(0, 80)}`}
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
