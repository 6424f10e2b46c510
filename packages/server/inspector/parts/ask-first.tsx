import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useDeed } from "./do-button.js";
import { ErrorNotice, useAgain } from "./query.js";

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
export function ChangeButton({
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
