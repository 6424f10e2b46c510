import type { Erasure, ForgetRequest, Receipt } from "../api-types.js";
import { Counts, totalOf } from "../parts/counts.js";
import { DownloadButton } from "../parts/do-button.js";
import { Field, Pages, PlaceForm } from "../parts/filters.js";
import { Card, Page, Rows } from "../parts/layout.js";
import { QueryResult, useAnswer } from "../parts/query.js";
import { count, counted, Tag, When } from "../parts/texts.js";
import { hrefOf, nameOf, useHere } from "../place.js";

/** Rows of a page. */
const limit = 25;

/** What was erased, with receipts, and what users asked to forget. */
export function Forgotten() {
  return (
    <Page title="Forgotten">
      {/* Erasures name nobody: whether an id was erased is asked for by that id. */}
      <PlaceForm>
        <div class="fields open">
          <Field label="Was this user erased?" name="erasedUser" />
          <Field label="In this app" name="erasedApp" />
        </div>
        <button type="submit" class="primary">
          Ask
        </button>
      </PlaceForm>
      <Erasures />
      <Requests />
    </Page>
  );
}

function Erasures() {
  const { tenantId, erasedUser = "", erasedApp = "", after } = useHere().params;
  const isAsked = erasedUser !== "" || erasedApp !== "";
  const found = useAnswer("/erasures", {
    owner: { tenantId, userId: erasedUser, appId: erasedApp },
    query: { limit, after },
  });
  return (
    <Card title="Erasures">
      <QueryResult query={found}>
        {({ erasures, nextCursor }) => (
          <>
            {erasures.some(({ hasDigest }) => !hasDigest) && (
              <p class="note">
                Nothing is kept of erased ids without the option <code>receipts.idKey</code>: those
                marked "no digest" cannot be asked for.
              </p>
            )}
            <Rows
              rows={erasures}
              none={isAsked ? "No erasure of this id is known." : "Nobody was erased yet."}
            >
              {(erasure) => <ErasureRow key={erasure.id} {...erasure} />}
            </Rows>
            <Pages next={nextCursor} />
          </>
        )}
      </QueryResult>
    </Card>
  );
}

const kinds: Readonly<Record<Erasure["kind"], string>> = {
  user: "A user",
  user_in_app: "A user in one app",
  app: "An app",
};

function ErasureRow({ id, kind, actor, before, after, beganAt, endedAt, hasDigest }: Erasure) {
  const { tenantId } = useHere().params;
  return (
    <li>
      <p>
        <strong>{kinds[kind]}</strong> <Tag of={endedAt === null ? "waiting" : "done"} />{" "}
        {!hasDigest && <Tag of="no digest" />}
      </p>
      <p class="faint">
        <When at={endedAt ?? beganAt} /> · by <bdi>{actor}</bdi> · {counted(totalOf(before), "row")}{" "}
        before
        {after === null
          ? ": it runs, or was interrupted. Delete the same user or app again."
          : `, ${count(totalOf(after))} after`}
      </p>
      <details>
        <summary>What went, by kind</summary>
        <Counts removed={before} />
      </details>
      {endedAt && (
        <DownloadButton
          does="Receipt"
          running="Checking…"
          path="/erasures/:id/receipt"
          call={{ ids: { id }, owner: { tenantId } }}
          fileName={`erasure-${id}.json`}
          sayOf={async (file) => sentenceOf(JSON.parse(await file.text()))}
        />
      )}
    </li>
  );
}

/** What a receipt says; its check was made for it. */
function sentenceOf({ check: { by, left, passed }, signature }: Receipt): string {
  const signed = signature === "unsigned" ? "The receipt is unsigned." : "The receipt is signed.";
  if (passed === null)
    return `Nothing was checked: a user in one app can be checked with receipts.idKey only. ${signed}`;
  if (!passed) {
    const tables = Object.entries(left).map(([table, rows]) => `${table} ${count(rows)}`);
    return `Rows are there, left over or written since: ${tables.join(", ")}. ${signed}`;
  }
  const how = by === "id" ? "of this id" : "that refers to the deleted rows";
  return `Checked now: nothing ${how} is left. ${signed} Backups and copies elsewhere are not covered.`;
}

function Requests() {
  const found = useAnswer("/forget-requests", { query: { limit } });
  return (
    <Card title="Asked to forget">
      <QueryResult query={found}>
        {({ requests }) => (
          <>
            <Rows rows={requests} none="No request to forget anything.">
              {(request) => (
                <RequestRow key={`${request.at} ${nameOf(request.scope)}`} {...request} />
              )}
            </Rows>
            {requests.length === limit && <p class="faint">The latest {limit}.</p>}
          </>
        )}
      </QueryResult>
    </Card>
  );
}

function RequestRow(request: ForgetRequest) {
  const { scope, actor, at, memories, waiting, restored, purged, purgeAt } = request;
  return (
    <li>
      <p>
        <a href={hrefOf("memories", { ...scope, state: "soft_deleted" })}>
          <bdi>{nameOf(scope)}</bdi>
        </a>{" "}
        <strong>{counted(memories, "memory", "memories")}</strong>{" "}
        {waiting > 0 && <Tag of={`${count(waiting)} waiting`} tone="waiting" />}{" "}
        {purged > 0 && <Tag of={`${count(purged)} gone`} tone="good" />}{" "}
        {restored > 0 && <Tag of={`${count(restored)} restored`} tone="bad" />}
      </p>
      <p class="faint">
        <When at={at} /> · by <bdi>{actor ?? "the user"}</bdi>
        {waiting > 0 && (
          <>
            {" "}
            · can be restored until <When at={purgeAt} />
          </>
        )}
      </p>
    </li>
  );
}
