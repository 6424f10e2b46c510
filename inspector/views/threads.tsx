import { ask } from "../api.js";
import type { Owner, Thread } from "../api-types.js";
import { Answer, useAsked } from "../parts/asked.js";
import { Pages } from "../parts/pages.js";
import { count, Tag, When } from "../parts/texts.js";
import { hrefOf, type Place, paramsOf, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";

/** Conversations of whoever is looked at; of nobody in particular, who there is. */
export function Threads({ place, isOperator }: ViewProps) {
  const { user, app } = place.params;
  if (isOperator && user === undefined && app === undefined) return <Owners place={place} />;
  return <ThreadList place={place} />;
}

function ThreadList({ place }: { readonly place: Place }) {
  const { params } = place;
  const asked = useAsked(
    (signal) =>
      ask<{ readonly threads: readonly Thread[]; readonly nextCursor: string | null }>("threads", {
        ...{ whose: params, query: { limit: 50, cursor: params.cursor }, signal },
      }),
    [whoseOf(params), params.cursor],
  );
  return (
    <section aria-label="Threads">
      <Answer asked={asked}>
        {({ threads, nextCursor }) => (
          <>
            {threads.length === 0 ? (
              <p class="note">No conversation is kept here.</p>
            ) : (
              <ThreadTable threads={threads} />
            )}
            <Pages place={place} next={nextCursor} />
          </>
        )}
      </Answer>
    </section>
  );
}

function ThreadTable({ threads }: { readonly threads: readonly Thread[] }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Thread</th>
            <th>App</th>
            <th class="number">Messages</th>
            <th>Last active</th>
            <th>State</th>
            <th>Summaries</th>
          </tr>
        </thead>
        <tbody>
          {threads.map(({ threadId, scope, messages, lastActivityAt, endedAt, endedReason }) => {
            const params = { ...paramsOf(scope), thread: threadId };
            return (
              <tr key={threadId}>
                <th scope="row">
                  <a href={hrefOf({ view: "thread", params })}>
                    <bdi>{threadId}</bdi>
                  </a>
                </th>
                <td>{scope.appId ?? ""}</td>
                <td class="number">{count(messages)}</td>
                <td>
                  <When at={lastActivityAt} />
                </td>
                <td>
                  {endedAt === null ? <Tag of="open" tone="good" /> : <Tag of={`ended ${endedReason ?? ""}`.trim()} />}
                </td>
                <td>
                  <a href={hrefOf({ view: "summaries", params })} aria-label={`Summaries of ${threadId}`}>
                    versions
                  </a>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The users and apps that something is kept of. */
function Owners({ place }: { readonly place: Place }) {
  const { tenant = "", cursor, apps: appCursor } = place.params;
  const users = useAsked(
    (signal) =>
      ask<{ readonly users: readonly Owner[]; readonly nextCursor: string | null }>("users", {
        ...{ whose: { tenant }, query: { limit: 50, cursor }, signal },
      }),
    [tenant, cursor],
  );
  const apps = useAsked(
    (signal) =>
      ask<{ readonly apps: readonly Owner[]; readonly nextCursor: string | null }>("apps", {
        ...{ whose: { tenant }, query: { limit: 50, cursor: appCursor }, signal },
      }),
    [tenant, appCursor],
  );
  return (
    <div class="columns">
      <section>
        <h2>Users</h2>
        <Answer asked={users}>
          {({ users: rows, nextCursor }) => (
            <>
              <OwnerTable owners={rows} what="User" />
              <Pages place={place} next={nextCursor} />
            </>
          )}
        </Answer>
      </section>
      <section>
        <h2>Apps</h2>
        <Answer asked={apps}>
          {({ apps: rows, nextCursor }) => (
            <>
              <OwnerTable owners={rows} what="App" />
              <Pages place={place} next={nextCursor} name="apps" />
            </>
          )}
        </Answer>
      </section>
    </div>
  );
}

function OwnerTable({ owners, what }: { readonly owners: readonly Owner[]; readonly what: string }) {
  if (owners.length === 0) return <p class="note">None yet.</p>;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{what}</th>
            <th>Tenant</th>
            <th class="number">Memories</th>
            <th class="number">Threads</th>
            <th>Last active</th>
          </tr>
        </thead>
        <tbody>
          {owners.map(({ scope, memories, threads, lastActivityAt }) => (
            <tr key={JSON.stringify(scope)}>
              <th scope="row">
                <a href={hrefOf({ view: threads > 0 ? "threads" : "memories", params: paramsOf(scope) })}>
                  <bdi>{scope.userId ?? scope.appId}</bdi>
                </a>
              </th>
              <td>{scope.tenantId ?? ""}</td>
              <td class="number">{count(memories)}</td>
              <td class="number">{count(threads)}</td>
              <td>
                <When at={lastActivityAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
