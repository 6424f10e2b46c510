import { useState } from "preact/hooks";
import { ask, path, send } from "../api.js";
import type { Erasure, ForgetRequest, Receipt } from "../api-types.js";
import { Answer, Trouble, useAsked } from "../parts/asked.js";
import { Counts } from "../parts/counts.js";
import { Pages } from "../parts/pages.js";
import { saveFile } from "../parts/save-file.js";
import { count, counted, Head, Tag, When } from "../parts/texts.js";
import { go, hrefOf, nameOf, type Params, type Place, paramsOf, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** Rows of a page. */
const limit = 25;

/** What was erased, with receipts, and what users asked to forget. */
export function Forgotten({ place }: ViewProps) {
  return (
    <section aria-label="Forgotten">
      <Head title="Forgotten" />
      <AskForId place={place} />
      <Erasures place={place} />
      <Requests place={place} />
    </section>
  );
}

/** Erasures name nobody: whether an id was erased is asked for by that id. */
function AskForId({ place }: Readonly<{ place: Place }>) {
  const { erasedUser = "", erasedApp = "" } = place.params;
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const filled = [...new FormData(event.currentTarget)].map(([name, value]) => [
          name,
          String(value).trim(),
        ]);
        go({ ...place, params: { ...whoseOf(place.params), ...Object.fromEntries(filled) } });
      }}
    >
      <div class="fields open">
        <label>
          Was this user erased?
          <input name="erasedUser" defaultValue={erasedUser} key={erasedUser} placeholder="all" />
        </label>
        <label>
          In this app
          <input name="erasedApp" defaultValue={erasedApp} key={erasedApp} placeholder="all" />
        </label>
      </div>
      <button type="submit" class="primary">
        Ask
      </button>
    </form>
  );
}

function Erasures({ place }: Readonly<{ place: Place }>) {
  const { tenant = "", erasedUser = "", erasedApp = "", after } = place.params;
  const whose = whoseOf({ tenant, user: erasedUser, app: erasedApp });
  const isAsked = erasedUser !== "" || erasedApp !== "";
  const asked = useAsked(
    (signal) =>
      ask<{ readonly erasures: readonly Erasure[]; readonly nextCursor: string | null }>(
        "erasures",
        { whose, signal, query: { limit, after } },
      ),
    [whose, after],
  );
  return (
    <section class="card" aria-labelledby="erasures">
      <h2 id="erasures">Erasures</h2>
      <Answer asked={asked} missing="This server does not list erasures.">
        {({ erasures, nextCursor }) => (
          <>
            {erasures.length === 0 && (
              <p class="note">
                {isAsked ? "No erasure of this id is known." : "Nobody was erased yet."}
              </p>
            )}
            {erasures.some(({ hasDigest }) => !hasDigest) && (
              <p class="note">
                Nothing is kept of erased ids without the option <code>receipts.idKey</code>: those
                marked "no digest" cannot be asked for.
              </p>
            )}
            <ul class="rows">
              {erasures.map((erasure) => (
                <ErasureRow key={erasure.id} erasure={erasure} tenant={tenant} />
              ))}
            </ul>
            <Pages place={place} next={nextCursor} />
          </>
        )}
      </Answer>
    </section>
  );
}

const kinds: Readonly<Record<string, string>> = {
  user: "A user",
  user_in_app: "A user in one app",
  app: "An app",
};

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((all, rows) => all + rows, 0);

function ErasureRow({ erasure, tenant }: Readonly<{ erasure: Erasure; tenant: string }>) {
  const { id, kind, actor, before, after, beganAt, endedAt, hasDigest } = erasure;
  return (
    <li>
      <p>
        <strong>{kinds[kind] ?? kind}</strong>{" "}
        {endedAt === null ? <Tag of="waiting" tone="waiting" /> : <Tag of="done" tone="good" />}{" "}
        {!hasDigest && <Tag of="no digest" />}
      </p>
      <p class="faint">
        <When at={endedAt ?? beganAt} /> · by <bdi>{actor}</bdi> · {counted(sum(before), "row")}{" "}
        before
        {after === null
          ? ": it runs, or was interrupted. Delete the same user or app again."
          : `, ${count(sum(after))} after`}
      </p>
      <details>
        <summary>What went, by kind</summary>
        <Counts removed={before} total={sum(before)} />
      </details>
      {endedAt !== null && <ReceiptButton id={id} tenant={tenant} />}
    </li>
  );
}

/** Downloads the receipt, whose check is made then, and says what it says. */
function ReceiptButton({ id, tenant }: Readonly<{ id: string; tenant: string }>) {
  const [state, setState] = useState<Error | string | null>(null);
  const download = async () => {
    setState("Checking…");
    try {
      const whose: Params = whoseOf({ tenant });
      const blob = await (await send(path`erasures/${id}/receipt`, { whose })).blob();
      saveFile(blob, `erasure-${id}.json`);
      setState(sentenceOf(JSON.parse(await blob.text()) as Receipt));
    } catch (error) {
      setState(error as Error);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void download()}>
        Receipt
      </button>
      {state instanceof Error ? (
        <Trouble error={state} />
      ) : (
        state !== null && <p role="status">{state}</p>
      )}
    </>
  );
}

function sentenceOf({ check, signature }: Receipt): string {
  const { by, left, passed } = check;
  const signed = signature === "unsigned" ? "The receipt is unsigned." : "The receipt is signed.";
  const covered = "Backups and copies elsewhere are not covered.";
  if (passed === null)
    return `Nothing was checked: a user in one app can be checked with receipts.idKey only. ${signed}`;
  if (!passed) {
    const tables = Object.entries(left).map(([table, rows]) => `${table} ${count(rows)}`);
    return `Rows are there, left over or written since: ${tables.join(", ")}. ${signed}`;
  }
  const how = by === "id" ? "of this id" : "that refers to the deleted rows";
  return `Checked now: nothing ${how} is left. ${signed} ${covered}`;
}

function Requests({ place }: Readonly<{ place: Place }>) {
  const whose = whoseOf(place.params);
  const asked = useAsked(
    (signal) =>
      ask<{ readonly requests: readonly ForgetRequest[] }>("forget-requests", {
        ...{ whose, signal, query: { limit } },
      }),
    [whose],
  );
  return (
    <section class="card" aria-labelledby="requests">
      <h2 id="requests">Asked to forget</h2>
      <Answer asked={asked} missing="This server does not list requests.">
        {({ requests }) => (
          <>
            {requests.length === 0 && <p class="note">Nobody asked to forget anything.</p>}
            <ul class="rows">
              {requests.map((request) => (
                <RequestRow key={`${request.at} ${nameOf(paramsOf(request.scope))}`} {...request} />
              ))}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}

function RequestRow(request: ForgetRequest) {
  const { scope, actor, at, memories, waiting, restored, purged, purgeAt } = request;
  const params = paramsOf(scope);
  return (
    <li>
      <p>
        <a href={hrefOf({ view: "memories", params: { ...params, state: "soft_deleted" } })}>
          <bdi>{nameOf(params)}</bdi>
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
