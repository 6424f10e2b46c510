import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "./api.js";
import type { Owner } from "./api-types.js";
import { Answer, useAsked } from "./parts/asked.js";
import { count, counted, When } from "./parts/texts.js";
import { go, hrefOf, nameOf, type Params, type Place, paramsOf } from "./place.js";
import { views } from "./views/views.js";

/** Owners that are suggested at once. */
const mostOwners = 50;
/** Longer ids are not searched. */
const mostIdCharacters = 200;
/** So long nothing is typed before the server is asked. */
const pauseMs = 150;

/** Whose memory is looked at, and who else there is, on demand. */
export function WhoseChooser({ place }: Readonly<{ place: Place }>) {
  const [isOpen, setOpen] = useState(false);
  const popover = useRef<HTMLDivElement>(null);
  return (
    <div class="whose">
      <button
        type="button"
        popovertarget="whose"
        aria-label={`Whose: ${nameOf(place.params) || "everyone"}`}
      >
        <span class="faint">Whose:</span> <bdi>{nameOf(place.params) || "everyone"}</bdi>{" "}
        <span class="faint">▾</span>
      </button>
      <div
        id="whose"
        popover="auto"
        ref={popover}
        role="dialog"
        aria-label="Whose memory"
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen && <OwnerPicker place={place} onPick={() => popover.current?.hidePopover()} />}
      </div>
    </div>
  );
}

interface Owners {
  readonly users: readonly Owner[];
  readonly apps: readonly Owner[];
}

/** Users and apps by a beginning or a part of their id, the latest active first. */
async function findOwners(
  search: string,
  tenant: string | undefined,
  signal: AbortSignal,
): Promise<Owners> {
  const query = { sort: "active", search, limit: mostOwners };
  const call = { whose: { tenant: tenant ?? "" }, query, signal };
  const [users, apps] = await Promise.all([
    ask<Pick<Owners, "users">>("users", call),
    ask<Pick<Owners, "apps">>("apps", call),
  ]);
  return { ...users, ...apps };
}

const idOf = ({ scope }: Owner) => scope.userId ?? scope.appId ?? "";

/** "No such user. 3 begin with zoe", with links to them. */
function Unknown({
  wanted,
  owners,
  to,
  onPick,
}: Readonly<{
  wanted: string;
  owners: Owners;
  to: (params: Params) => Place;
  onPick?: (() => void) | undefined;
}>) {
  const begins = [...owners.users, ...owners.apps].filter((owner) =>
    idOf(owner).toLowerCase().startsWith(wanted.toLowerCase()),
  );
  const many = begins.length < mostOwners ? count(begins.length) : `${mostOwners} or more`;
  return (
    <p class="note" role="status">
      No such user or app.{" "}
      {begins.length > 0 && `${many} ${begins.length === 1 ? "begins" : "begin"} with ${wanted}: `}
      {begins.slice(0, 5).map(({ scope }) => (
        <a key={JSON.stringify(scope)} href={hrefOf(to(paramsOf(scope)))} onClick={onPick}>
          <bdi>{nameOf(paramsOf(scope))}</bdi>{" "}
        </a>
      ))}
    </p>
  );
}

/** Says where nobody has the id that is looked at. */
export function UnknownOwner({ place }: Readonly<{ place: Place }>) {
  const { tenant, user, app } = place.params;
  const wanted = user ?? app;
  const asked = useAsked(
    async (signal) => (wanted === undefined ? null : findOwners(wanted, tenant, signal)),
    [wanted, tenant],
  );
  const { value } = asked;
  if (wanted === undefined || value === null) return null;
  const known = [...value.users, ...value.apps].some((owner) => idOf(owner) === wanted);
  if (known || wanted.length > mostIdCharacters) return null;
  return <Unknown wanted={wanted} owners={value} to={(params) => ({ ...place, params })} />;
}

/** Users and apps to choose from, with a field that asks the server for those with an id like it. */
export function OwnerPicker({ place, onPick }: Readonly<{ place: Place; onPick?: () => void }>) {
  const [typed, setTyped] = useState("");
  const [isUnknown, setUnknown] = useState(false);
  const wanted = typed.trim();
  const found = useAsked(
    async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, wanted === "" ? 0 : pauseMs));
      if (signal.aborted) throw new DOMException("another letter was typed", "AbortError");
      return { wanted, ...(await findOwners(wanted, place.params.tenant, signal)) };
    },
    [wanted],
  );
  const to = (params: Params): Place => ({ view: views[place.view]?.tab ?? place.view, params });
  const pick = async (event: SubmitEvent) => {
    event.preventDefault();
    if (wanted === "") {
      go(to({}));
      onPick?.();
      return;
    }
    const { users, apps } = await findOwners(
      wanted,
      place.params.tenant,
      new AbortController().signal,
    );
    const all = [...users, ...apps];
    const owner =
      all.find((each) => idOf(each) === wanted) ?? (all.length === 1 ? all[0] : undefined);
    setUnknown(owner === undefined);
    if (owner === undefined) return;
    go(to(paramsOf(owner.scope)));
    onPick?.();
  };
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const list = (kind: string, owners: readonly Owner[]) => (
    <ul class="owners">
      {owners.map(({ scope, memories, threads, lastActivityAt }) => (
        <li key={JSON.stringify(scope)}>
          <a href={hrefOf(to(paramsOf(scope)))} onClick={onPick}>
            <bdi>{nameOf(paramsOf(scope))}</bdi>
            <span class="faint">
              {kind} · {counted(memories, "memory", "memories")} ·{" "}
              {counted(threads, "conversation")} · <When at={lastActivityAt} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
  return (
    <form class="picker" onSubmit={pick}>
      <input
        aria-label="User or app"
        placeholder="A user or an app"
        autocomplete="off"
        spellcheck={false}
        ref={field}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setUnknown(false);
        }}
      />
      {!views[place.view]?.needsWhose && (
        <a href={hrefOf(to({}))} onClick={onPick}>
          Everyone
        </a>
      )}
      <Answer asked={found}>
        {(owners) => (
          <>
            {(isUnknown || owners.users.length + owners.apps.length === 0) &&
              owners.wanted !== "" && (
                <Unknown wanted={owners.wanted} owners={owners} to={to} onPick={onPick} />
              )}
            {list("user", owners.users)}
            {list("app", owners.apps)}
          </>
        )}
      </Answer>
    </form>
  );
}
