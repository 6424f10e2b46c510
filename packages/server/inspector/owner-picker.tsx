import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask } from "./api.js";
import type { Owner } from "./api-types.js";
import { Rows } from "./parts/layout.js";
import { type Ask, QueryResult, useQuery } from "./parts/query.js";
import { count, counted, When } from "./parts/texts.js";
import { go, hrefOf, nameOf, useHere } from "./place.js";
import { tabOf, views } from "./views/views.js";

/** Owners that are suggested at once. */
const maxOwners = 50;
/** Longer ids are not searched. */
const maxIdCharacters = 200;
/** So long nothing is typed before the server is asked. */
const pauseMs = 150;

/** Whose memory is looked at, and a field that finds who and what else there is. */
export function OwnerChooser() {
  const { owner, params } = useHere();
  const name = nameOf(owner) || "everyone";
  const [isOpen, setOpen] = useState(false);
  const popover = useRef<HTMLDivElement>(null);
  useEffect(() => popover.current?.hidePopover(), [params]);
  return (
    <>
      <button type="button" popovertarget="whose" aria-label={`Whose: ${name}`}>
        <span class="faint">Whose:</span> <bdi>{name}</bdi> <span class="faint">▾</span>
      </button>
      <div
        id="whose"
        popover="auto"
        ref={popover}
        role="dialog"
        aria-label="Whose memory"
        onBeforeToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen && <OwnerPicker />}
      </div>
    </>
  );
}

/** Users, then apps, by a beginning or a part of their id, the latest active first. */
async function findOwners(
  askApi: Ask,
  search: string,
  tenantId?: string,
): Promise<readonly Owner[]> {
  const beginning = search.slice(0, maxIdCharacters);
  const query = { sort: "active", search: beginning, limit: maxOwners };
  const call = { owner: { tenantId }, query };
  const [{ users }, { apps }] = await Promise.all([askApi("/users", call), askApi("/apps", call)]);
  return [...users, ...apps];
}

const idOf = ({ scope }: Owner) => scope.userId ?? scope.appId ?? "";

/** "No such user. 3 begin with zoe", with links to them. */
function Unknown({ wanted, owners }: { wanted: string; owners: readonly Owner[] }) {
  const { view } = useHere();
  const begins = owners.filter((owner) =>
    idOf(owner).toLowerCase().startsWith(wanted.toLowerCase()),
  );
  const many = begins.length < maxOwners ? count(begins.length) : `${maxOwners} or more`;
  return (
    <p class="note" role="status">
      No such user or app.{" "}
      {begins.length > 0 && `${many} ${begins.length === 1 ? "begins" : "begin"} with ${wanted}: `}
      {begins.slice(0, 5).map(({ scope }) => (
        <a href={hrefOf(tabOf(view), scope)}>
          <bdi>{nameOf(scope)}</bdi>{" "}
        </a>
      ))}
    </p>
  );
}

/** Says where nobody has the id that is looked at. */
export function UnknownOwner() {
  const { owner } = useHere();
  const wanted = owner.userId || owner.appId || "";
  const { value: owners } = useQuery(async (askApi) =>
    wanted === "" ? null : findOwners(askApi, wanted, owner.tenantId),
  );
  if (owners === null) return null;
  const isKnown = owners.some((each) => idOf(each) === wanted);
  return isKnown ? null : <Unknown wanted={wanted} owners={owners} />;
}

/** A field that finds users and apps by their id, and by words what was said and what is known. */
export function OwnerPicker() {
  const { view, owner } = useHere();
  const [wanted, setWanted] = useState("");
  const [isUnknown, setUnknown] = useState(false);
  const found = useQuery(
    async (askApi) => {
      await new Promise((resolve) => setTimeout(resolve, wanted === "" ? 0 : pauseMs));
      return findOwners(askApi, wanted, owner.tenantId);
    },
    [wanted],
  );
  const searches = { threads: { said: wanted }, memories: { words: wanted } };
  const pickTyped = async (event: SubmitEvent) => {
    event.preventDefault();
    if (wanted === "") return go(tabOf(view), {});
    const owners = await findOwners(ask, wanted, owner.tenantId);
    const only = owners.length === 1 ? owners[0] : undefined;
    const one = owners.find((each) => idOf(each) === wanted) ?? only;
    setUnknown(one === undefined);
    if (one !== undefined) go(tabOf(view), one.scope);
    else if (owners.length === 0) go("threads", { ...owner, ...searches.threads });
  };
  const field = useRef<HTMLInputElement>(null);
  // Before the next key.
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form class="picker" onSubmit={pickTyped}>
      <input
        aria-label="User, app or words"
        placeholder="A user, an app, or words   ( Ctrl-K )"
        maxLength={maxIdCharacters}
        autocomplete="off"
        spellcheck={false}
        ref={field}
        onInput={({ currentTarget }) => {
          setWanted(currentTarget.value.trim());
          setUnknown(false);
        }}
      />
      {!views[view]?.needsOwner && <a href={hrefOf(tabOf(view), {})}>Everyone</a>}
      {wanted !== "" &&
        Object.entries(searches).map(([place, words]) => (
          <a href={hrefOf(place, { ...owner, ...words })}>
            {views[place]?.name} with “{wanted}”
          </a>
        ))}
      <QueryResult query={found}>
        {(owners) => (
          <>
            {(isUnknown || owners.length === 0) && wanted !== "" && (
              <Unknown wanted={wanted} owners={owners} />
            )}
            {owners.length === 0 && wanted === "" && <p class="note">Nobody is known yet.</p>}
            <Rows kind="owners" rows={owners}>
              {({ scope, memories, threads, lastActivityAt }) => (
                <li key={JSON.stringify(scope)}>
                  <a href={hrefOf(tabOf(view), scope)}>
                    <bdi>{nameOf(scope)}</bdi>
                    <span class="faint">
                      {scope.userId === undefined ? "app" : "user"} ·{" "}
                      {counted(memories, "memory", "memories")} · {counted(threads, "conversation")}{" "}
                      · <When at={lastActivityAt} />
                    </span>
                  </a>
                </li>
              )}
            </Rows>
          </>
        )}
      </QueryResult>
    </form>
  );
}
