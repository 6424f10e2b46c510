import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { ApiProblem, ask, keepToken } from "./api.js";
import { useAsked } from "./parts/asked.js";
import { hrefOf, type Place, usePlace, whoseOf } from "./place.js";
import { views } from "./views/views.js";
import { WhoseForm } from "./whose.js";

/** The frame of the page: whose memory, which view, and the view. */
export function Shell() {
  const place = usePlace();
  const access = useAsked((signal) => ask<unknown>("users", { query: { limit: 1 }, signal }), []);
  const { error } = access;
  const refused = error instanceof ApiProblem && (error.status === 401 || error.status === 403);
  const view = views[place.view] ?? views.threads;
  useEffect(() => {
    document.title = `${view?.name ?? "Inspector"} · Mnemograph`;
  }, [view]);
  if (access.loading && !access.value && !error) return <p class="loading">Loading…</p>;
  if (refused) return <Login again={access.again} />;
  if (error && !(error instanceof ApiProblem && error.status === 404))
    return (
      <main class="alone">
        <p class="trouble" role="alert">
          {error instanceof ApiProblem ? error.message : "The server does not answer."}
        </p>
        <button type="button" onClick={access.again}>
          Try again
        </button>
      </main>
    );
  const isOperator = error === null;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <header>
        <h1>Mnemograph</h1>
        {isOperator && <WhoseForm key={JSON.stringify(whoseOf(place.params))} place={place} />}
        <Tabs place={place} />
      </header>
      <main id="main" tabIndex={-1}>
        <View place={place} isOperator={isOperator} />
      </main>
    </>
  );
}

function View({ place, isOperator }: { readonly place: Place; readonly isOperator: boolean }) {
  const view = views[place.view] ?? views.threads;
  if (!view) return null;
  const named = place.params.user !== undefined || place.params.app !== undefined;
  if (isOperator && view.needsWhose && !named) {
    return <p class="note">Say whose memory you want to see: choose a user or an app above.</p>;
  }
  const Shown = view.show;
  return (
    <Guarded key={hrefOf(place)}>
      <Shown place={place} isOperator={isOperator} />
    </Guarded>
  );
}

/** What is in it, or that it could not be shown. */
function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary();
  if (!error) return <>{children}</>;
  return (
    <p class="trouble" role="alert">
      This cannot be shown: {String((error as Error).message)}
    </p>
  );
}

function Tabs({ place }: { readonly place: Place }) {
  const current = views[place.view]?.tab ?? place.view;
  const tabs = Object.entries(views).filter(([, view]) => view.tab === undefined);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && tab) nav.current.scrollLeft = tab.offsetLeft - nav.current.clientWidth / 3;
  }, [current]);
  return (
    <nav aria-label="Views" ref={nav}>
      {tabs.map(([name, view]) => (
        <a
          key={name}
          href={hrefOf({ view: name, params: whoseOf(place.params) })}
          aria-current={name === current ? "page" : undefined}
        >
          {view.name}
        </a>
      ))}
    </nav>
  );
}

function Login({ again }: { readonly again: () => void }) {
  const [given, setGiven] = useState(false);
  return (
    <main class="alone">
      <h1>Mnemograph inspector</h1>
      <p>
        This server does not know you. Log in to it as you usually do and load this page again, give a token that it
        takes, or start <code>mnemograph inspect</code> again: what it prints is good for one visit.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          keepToken(String(new FormData(event.currentTarget).get("token")).trim());
          setGiven(true);
          again();
        }}
      >
        <label>
          Bearer token
          <input name="token" type="password" required autocomplete="off" />
        </label>
        <button type="submit" class="primary">
          Go on
        </button>
      </form>
      {given && (
        <p class="trouble" role="alert">
          The server does not take this token.
        </p>
      )}
    </main>
  );
}
