import { useState } from "preact/hooks";
import { ask } from "../api.js";
import type { Forgotten } from "../api-types.js";
import { useAskFirst } from "../parts/ask-first.js";
import { Counts } from "../parts/counts.js";
import { DownloadButton } from "../parts/download-button.js";
import { Card, Page } from "../parts/layout.js";
import { ErrorNotice } from "../parts/query.js";
import { counted } from "../parts/texts.js";
import { type Params, useHere } from "../place.js";

/** All that is kept of somebody: as a file, and gone for good. */
export function ExportAndDelete() {
  const { owner } = useHere();
  const name = owner.user ?? owner.app ?? "me";
  return (
    <Page title="Export & delete">
      <div class="halves">
        <Card title="Export">
          <p>Everything that is kept of {name}, as lines of JSON.</p>
          <DownloadButton
            does="Download"
            running="Reading…"
            path="/export"
            call={{ owner }}
            fileName={`${name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_")}.jsonl`}
            sayOf={({ size }) => `${counted(size, "byte is", "bytes are")} in your downloads.`}
          />
        </Card>
        <Delete key={JSON.stringify(owner)} owner={owner} name={name} />
      </div>
    </Page>
  );
}

function Delete({ owner, name }: { owner: Params; name: string }) {
  const [left, setLeft] = useState<Forgotten | null>(null);
  const [deleted, setDeleted] = useState<Forgotten | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const { ask: askFirst, dialog } = useAskFirst(() => {});
  const forget = (dryRun: boolean) => ask("/forget", { method: "post", owner, body: { dryRun } });
  const countRows = () => {
    setError(null);
    forget(true).then(setLeft, setError);
  };
  const remove = () =>
    askFirst({
      title: `Delete everything of ${name}?`,
      does: "Delete for good",
      danger: true,
      reason: false,
      typed: name,
      about: (
        <p>
          {left && `${counted(left.total, "row goes", "rows go")}, `}with checkpoints and audit
          trail. Nothing brings them back.
        </p>
      ),
      act: async () => setDeleted(await forget(false)),
    });
  return (
    <Card title="Delete">
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
      {error && <ErrorNotice error={error} />}
      {left && <Counts removed={left.removed} total={left.total} />}
      {deleted && (
        <p role="status">
          {deleted.complete ? "All of it is gone:" : "Others kept writing, so run it again:"}{" "}
          {counted(deleted.total, "row")}.
        </p>
      )}
      {dialog}
    </Card>
  );
}
