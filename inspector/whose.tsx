import { ask } from "./api.js";
import type { Owner } from "./api-types.js";
import { useAsked } from "./parts/asked.js";
import { go, type Place, whoseOf } from "./place.js";

/** Whose memory is looked at: ids to type, with those that are there as suggestions. */
export function WhoseForm({ place }: { readonly place: Place }) {
  const { tenant = "", user = "", app = "" } = place.params;
  const whose = whoseOf({ tenant });
  const users = useAsked(
    (signal) => ask<{ readonly users: readonly Owner[] }>("users", { whose, query: { limit: 100 }, signal }),
    [tenant],
  );
  const apps = useAsked(
    (signal) => ask<{ readonly apps: readonly Owner[] }>("apps", { whose, query: { limit: 100 }, signal }),
    [tenant],
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const params = Object.fromEntries([...given].map(([name, value]) => [name, String(value).trim()]));
    go({
      view: place.view === "memory" || place.view === "thread" ? "memories" : place.view,
      params: whoseOf(params),
    });
  };
  return (
    <form class="whose" onSubmit={submit} aria-label="Whose memory">
      <Id name="tenant" value={tenant} all={[]} />
      <Id name="user" value={user} all={(users.value?.users ?? []).map(({ scope }) => scope.userId ?? "")} />
      <Id name="app" value={app} all={(apps.value?.apps ?? []).map(({ scope }) => scope.appId ?? "")} />
      <button type="submit">Show</button>
    </form>
  );
}

function Id({ name, value, all }: { readonly name: string; readonly value: string; readonly all: readonly string[] }) {
  return (
    <label>
      {name}
      <input name={name} defaultValue={value} list={`ids-${name}`} autocomplete="off" spellcheck={false} size={12} />
      <datalist id={`ids-${name}`}>
        {all.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </label>
  );
}
