import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "./api.js";
import type { Owner } from "./api-types.js";
import { Answer, useAsked } from "./parts/asked.js";
import { counted, When } from "./parts/texts.js";
import { go, hrefOf, nameOf, type Params, type Place, paramsOf, whoseOf } from "./place.js";
import { views } from "./views/views.js";

/** Owners that are suggested at once; others are found by their whole id. */
const mostOwners = 100;

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

/** Users and apps to choose from, with a field that narrows them down or takes an id. */
export function OwnerPicker({ place, onPick }: Readonly<{ place: Place; onPick?: () => void }>) {
  const [typed, setTyped] = useState("");
  const read = (kind: "users" | "apps") => async (signal: AbortSignal) =>
    (
      (await ask<Record<string, readonly Owner[]>>(kind, { query: { limit: mostOwners }, signal }))[
        kind
      ] ?? []
    ).toSorted((one, two) => (two.lastActivityAt ?? "").localeCompare(one.lastActivityAt ?? ""));
  const users = useAsked(read("users"), []);
  const apps = useAsked(read("apps"), []);
  const to = (params: Params): Place => ({ view: views[place.view]?.tab ?? place.view, params });
  const fitting = (owners: readonly Owner[]) =>
    owners.filter(({ scope }) =>
      nameOf(paramsOf(scope)).toLowerCase().includes(typed.trim().toLowerCase()),
    );
  const pick = (event: SubmitEvent) => {
    event.preventDefault();
    const all = [...fitting(users.value ?? []), ...fitting(apps.value ?? [])];
    const first = all.find(({ scope }) => nameOf(paramsOf(scope)) === typed.trim()) ?? all[0];
    const params = first
      ? paramsOf(first.scope)
      : whoseOf({ tenant: place.params.tenant ?? "", user: typed.trim() });
    go(to(typed.trim() === "" ? {} : params));
    onPick?.();
  };
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const list = (kind: string, owners: readonly Owner[]) => (
    <ul class="owners">
      {fitting(owners).map(({ scope, memories, threads, lastActivityAt }) => (
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
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {!views[place.view]?.needsWhose && (
        <a href={hrefOf(to({}))} onClick={onPick}>
          Everyone
        </a>
      )}
      <Answer asked={users}>{(owners) => list("user", owners)}</Answer>
      <Answer asked={apps}>{(owners) => list("app", owners)}</Answer>
    </form>
  );
}
