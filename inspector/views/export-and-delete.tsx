import { useState } from "preact/hooks";
import { ask, send } from "../api.js";
import type { Forgotten } from "../api-types.js";
import { useAskFirst } from "../parts/ask-first.js";
import { Trouble } from "../parts/asked.js";
import { Counts } from "../parts/counts.js";
import { saveFile } from "../parts/save-file.js";
import { counted, Head } from "../parts/texts.js";
import { type Params, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** All that is kept of somebody: as a file, and gone for good. */
export function ExportAndDelete({ place }: ViewProps) {
  const whose = whoseOf(place.params);
  const name = whose.user ?? whose.app ?? "me";
  return (
    <section class="narrow" aria-label="Export and delete">
      <Head title="Export & delete" />
      <Export whose={whose} name={name} />
      <Delete key={JSON.stringify(whose)} whose={whose} name={name} />
    </section>
  );
}

function Export({ whose, name }: Readonly<{ whose: Params; name: string }>) {
  const [state, setState] = useState<Error | string | null>(null);
  const download = async () => {
    setState("Reading…");
    try {
      const blob = await (await send("export", { whose })).blob();
      saveFile(blob, `${name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_")}.jsonl`);
      setState(`${counted(blob.size, "byte is", "bytes are")} in your downloads.`);
    } catch (error) {
      setState(error as Error);
    }
  };
  return (
    <section class="card" aria-labelledby="export">
      <h2 id="export">Export</h2>
      <p>Everything that is kept of {name}, as lines of JSON.</p>
      <button type="button" onClick={() => void download()}>
        Download
      </button>
      {state instanceof Error ? (
        <Trouble error={state} />
      ) : (
        state !== null && <p role="status">{state}</p>
      )}
    </section>
  );
}

function Delete({ whose, name }: Readonly<{ whose: Params; name: string }>) {
  const [left, setLeft] = useState<Forgotten | null>(null);
  const [deleted, setDeleted] = useState<Forgotten | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const { ask: askFirst, dialog } = useAskFirst(() => {});
  const forget = (dryRun: boolean) =>
    ask<Forgotten>("forget", { method: "POST", whose, body: { dryRun } });
  const countRows = () => {
    setError(null);
    forget(true).then(setLeft, setError);
  };
  const remove = () =>
    askFirst({
      ...{ title: `Delete everything of ${name}?`, does: "Delete for good", danger: true },
      ...{ reason: false as const, typed: name },
      about: (
        <p>
          {left && `${counted(left.total, "row goes", "rows go")}, `}with checkpoints and audit
          trail. Nothing brings them back.
        </p>
      ),
      act: async () => setDeleted(await forget(false)),
    });
  return (
    <section class="card" aria-labelledby="erase">
      <h2 id="erase">Delete</h2>
      <p>First count what would go; nothing is deleted by counting.</p>
      <div class="buttons">
        <button type="button" onClick={countRows}>
          Count what would go
        </button>
        <button
          type="button"
          class="bad"
          disabled={left === null || left.total === 0}
          onClick={remove}
        >
          Delete…
        </button>
      </div>
      {error && <Trouble error={error} />}
      {left && <Counts removed={left.removed} total={left.total} />}
      {deleted && (
        <p role="status">
          {deleted.complete ? "All of it is gone:" : "Others kept writing, so run it again:"}{" "}
          {counted(deleted.total, "row")}.
        </p>
      )}
      {dialog}
    </section>
  );
}
