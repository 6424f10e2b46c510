import { useState } from "preact/hooks";
import { ask } from "../api.js";
import type { Removed } from "../api-types.js";
import { ChangeButtons } from "../parts/ask-first.js";
import { Counts } from "../parts/counts.js";
import { DownloadButton } from "../parts/do-button.js";
import { Card, Page } from "../parts/layout.js";
import { QueryResult, useQuery } from "../parts/query.js";
import { counted } from "../parts/texts.js";
import { useHere } from "../place.js";

/** All that is kept of somebody: as a file, and gone for good. */
export function ExportAndDelete() {
  const { owner } = useHere();
  const name = owner.userId || owner.appId || "me";
  const [counts, setCounts] = useState(0);
  const [deleted, setDeleted] = useState<Removed | null>(null);
  const forget = (dryRun: boolean) => ask("/forget", { method: "post", owner, body: { dryRun } });
  const left = useQuery(async () => (counts === 0 ? null : forget(true)), [counts]);
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
        <Card title="Delete">
          <p>First count what would go; nothing is deleted by counting.</p>
          <button type="button" onClick={() => setCounts(counts + 1)}>
            Count what would go
          </button>
          <QueryResult query={left}>
            {(found) =>
              found && (
                <>
                  <Counts removed={found.removed} />
                  {found.total > 0 && (
                    <ChangeButtons
                      changes={[
                        {
                          title: `Delete everything of ${name}?`,
                          opens: "Delete…",
                          does: "Delete for good",
                          danger: true,
                          reason: false,
                          typed: name,
                          about: (
                            <p>
                              {counted(found.total, "row goes", "rows go")}, with checkpoints and
                              audit trail. Nothing brings them back.
                            </p>
                          ),
                          act: async () => setDeleted(await forget(false)),
                        },
                      ]}
                    />
                  )}
                </>
              )
            }
          </QueryResult>
          {deleted && (
            <p role="status">
              {deleted.complete ? "All of it is gone:" : "Others kept writing, so run it again:"}{" "}
              {counted(deleted.total, "row")}.
            </p>
          )}
        </Card>
      </div>
    </Page>
  );
}
