import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useDeed } from "./do-button.js";
import { Rows } from "./layout.js";
import { ErrorNotice, useAgain } from "./query.js";
import { count, Words } from "./texts.js";

/** What is asked before something is changed. */
export interface Change {
  readonly title: string;
  /** What the button that does it says. */
  readonly does: string;
  /** What the button that opens the dialog says. @default what `does` says */
  readonly opens?: string;
  readonly danger?: boolean;
  /** Fields to fill in, with what is in them. */
  readonly fields?: Readonly<Record<string, Field>>;
  /** Word that has to be typed. @default none */
  readonly typed?: string;
  /** @default a reason is asked for */
  readonly reason?: false;
  readonly about?: ComponentChildren;
  /** Opens the dialog where the button's row is chosen. */
  readonly key?: "a" | "r" | undefined;
  /** Answers a function that undoes it, or `about` says that it is final. */
  act(reason: string, values: Readonly<Record<string, string>>): Promise<unknown>;
}

/** A field to fill in. */
interface Field {
  readonly label: string;
  /** @default empty */
  readonly value?: string | undefined;
  readonly long?: boolean;
}

/** What was typed into dialogs that were left by Esc, by what they change. */
const drafts = new Map<string, Readonly<Record<string, string>>>();

/** What a form's fields hold, by their names. */
export const valuesIn = (form: HTMLFormElement) =>
  Object.fromEntries(new FormData(form)) as Record<string, string>;

/**
 * A dialog that asks for a reason, and does `change` when it is given one. Esc keeps what was
 * typed until the same dialog is opened again; Cancel drops it.
 */
function AskFirst({
  change,
  onEnd,
}: {
  change: Change;
  onEnd: (done: boolean, undo?: unknown) => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const draft = JSON.stringify([location.hash, change.title, change.fields]);
  const typed = drafts.get(draft) ?? {};
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const values = valuesIn(event.currentTarget as HTMLFormElement);
    if (change.typed !== undefined && values.typed?.trim() !== change.typed) {
      setError(new Error(`Type “${change.typed}”, letter by letter.`));
      return;
    }
    setBusy(true);
    setError(null);
    try {
      const undo = await change.act(values.reason ?? "", values);
      drafts.delete(draft);
      onEnd(true, undo);
    } catch (failure) {
      setError(failure as Error);
      setBusy(false);
    }
  };
  const cancel = () => {
    drafts.delete(draft);
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} onClose={() => onEnd(false)} aria-labelledby="ask-title">
      <form
        onSubmit={submit}
        onInput={({ currentTarget }) => drafts.set(draft, valuesIn(currentTarget))}
      >
        <h2 id="ask-title">{change.title}</h2>
        {change.about}
        {Object.entries(change.fields ?? {}).map(([name, { label, value, long }]) => {
          const Input = long ? "textarea" : "input";
          return (
            <label for={name}>
              {label}
              <Input
                id={name}
                name={name}
                defaultValue={typed[name] ?? value}
                dir="auto"
                autocomplete="off"
              />
            </label>
          );
        })}
        {change.reason !== false && (
          <label>
            Reason, for the audit trail
            <input
              name="reason"
              required
              maxLength={2000}
              autocomplete="off"
              defaultValue={typed.reason ?? ""}
            />
          </label>
        )}
        {change.typed && (
          <label>
            Type <strong>{change.typed}</strong> to confirm
            <input name="typed" required autocomplete="off" />
          </label>
        )}
        {error && <ErrorNotice error={error} />}
        <div class="buttons">
          <button type="button" onClick={cancel}>
            Cancel
          </button>
          <button type="submit" class={change.danger ? "bad" : "primary"} disabled={busy}>
            {change.does}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** A button that opens the dialog of a change. */
function ChangeButton({
  change,
  kind = change.danger ? "bad" : undefined,
  onDone,
}: {
  change: Change;
  kind?: "plain" | "bad" | undefined;
  onDone: () => void;
}) {
  // As it was when it was asked for, whatever is read meanwhile.
  const [asked, setAsked] = useState<Change | null>(null);
  const report = useDeed();
  const end = (done: boolean, undo?: unknown) => {
    setAsked(null);
    if (!done) return;
    onDone();
    report({ does: change.does, undo, again: onDone });
  };
  return (
    <>
      <button
        type="button"
        class={kind}
        aria-keyshortcuts={change.key}
        onClick={() => setAsked(change)}
      >
        {change.opens ?? change.does}
      </button>
      {asked && <AskFirst change={asked} onEnd={end} />}
    </>
  );
}

/** A button for each change of what is shown around, which is asked for again after it. */
export function ChangeButtons({ changes, kind }: { changes: readonly Change[]; kind?: "plain" }) {
  const again = useAgain();
  return (
    <div class="buttons">
      {changes.map((change) => (
        <ChangeButton key={change.does} change={change} kind={kind} onDone={again} />
      ))}
    </div>
  );
}

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
