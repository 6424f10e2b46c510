import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { ApiProblem, ask } from "./api.js";
import { Trouble, useAsked } from "./parts/asked.js";
import { useKeys } from "./parts/keys.js";
import { SignIn } from "./parts/sign-in.js";
import { Head } from "./parts/texts.js";
import { go, hrefOf, type Place, usePlace, whoseOf } from "./place.js";
import type { View } from "./view.js";
import { views } from "./views/views.js";
import { OwnerPicker, UnknownOwner, WhoseChooser } from "./whose.js";

/** The frame of the page: which view, whose memory, and the view. */
export function Shell() {
  const place = usePlace();
  const view = (views[place.view] ?? views.overview) as View;
  const access = useAsked((signal) => ask<unknown>("users", { query: { limit: 1 }, signal }), []);
  const { error, value } = access;
  useEffect(() => {
    document.title = `${view.name} · Mnemograph`;
  }, [view]);
  useKeys(() => view.tab && go({ view: view.tab, params: whoseOf(place.params) }));
  if (access.loading && !value && !error) return <p class="loading alone">Loading…</p>;
  // A user is told that there are no such things; who had been let in keeps the page whatever
  // comes.
  const isUser = error instanceof ApiProblem && error.status === 404;
  if (!value && !isUser) return <NotIn error={error as Error} again={access.again} />;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href={hrefOf({ view: "overview", params: whoseOf(place.params) })}>
          <Logo /> Mnemograph
        </a>
        <Tabs place={place} current={view.tab ?? place.view} isOperator={!isUser} />
        {!isUser && <WhoseChooser place={place} />}
      </header>
      <main id="main" tabIndex={-1} class={`at-${place.view}`}>
        {!isUser && <UnknownOwner place={place} />}
        <Shown place={place} view={view} isOperator={!isUser} />
      </main>
    </>
  );
}

function Shown({
  place,
  view,
  isOperator,
}: Readonly<{ place: Place; view: View; isOperator: boolean }>) {
  const { user, app, thread = "", id = "" } = place.params;
  if (views[place.view] === undefined) {
    return (
      <section class="narrow">
        <Head title="There is no such page" />
        <p class="note">
          <a href={hrefOf({ view: "overview", params: whoseOf(place.params) })}>To the overview</a>
        </p>
      </section>
    );
  }
  if (isOperator && view.needsWhose && user === undefined && app === undefined) {
    return (
      <section class="narrow">
        <Head title={view.name} />
        <p class="note">Whose? Choose a user or an app.</p>
        <OwnerPicker place={place} />
      </section>
    );
  }
  return (
    <Guarded key={JSON.stringify([place.view, whoseOf(place.params), thread, id])}>
      <view.show place={place} isOperator={isOperator} />
    </Guarded>
  );
}

/** What is in it, or that it could not be shown. */
function Guarded({ children }: Readonly<{ children: ComponentChildren }>) {
  const [error, reset] = useErrorBoundary();
  return error ? (
    <Trouble error={new Error(`This cannot be shown: ${(error as Error).message}`)} again={reset} />
  ) : (
    children
  );
}

/** Three memories and what links them. */
function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M5 19 12 5l7 14Z" fill="none" />
      <circle cx="12" cy="5" r="3" />
      <circle cx="5" cy="19" r="3" />
      <circle cx="19" cy="19" r="3" />
    </svg>
  );
}

function Tabs({
  place,
  current,
  isOperator,
}: Readonly<{ place: Place; current: string; isOperator: boolean }>) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && tab) nav.current.scrollLeft = tab.offsetLeft - nav.current.clientWidth / 3;
  }, [current]);
  return (
    <nav aria-label="Views" ref={nav}>
      {Object.entries(views).map(
        ([name, { name: title, tab, operators }]) =>
          tab === undefined &&
          (isOperator || !operators) && (
            <a
              key={name}
              href={hrefOf({ view: name, params: whoseOf(place.params) })}
              aria-current={name === current ? "page" : undefined}
            >
              {title}
            </a>
          ),
      )}
    </nav>
  );
}

/** Why there is nothing to see yet. */
function NotIn({ error, again }: Readonly<{ error: Error; again: () => void }>) {
  const [given, setGiven] = useState(false);
  const isStranger = error instanceof ApiProblem && (error.status === 401 || error.status === 403);
  const signIn = () => {
    setGiven(true);
    again();
  };
  return (
    <main class="alone">
      <Logo />
      <Head title="Mnemograph inspector" />
      {!isStranger && <Trouble error={error} again={again} />}
      {isStranger && (
        <p>
          This server does not know you. Log in to it as you usually do and load this page again,
          give a token that it takes, or start <code>mnemograph inspect</code> again: what it prints
          is good for one visit.
        </p>
      )}
      {isStranger && <SignIn again={signIn} />}
      {isStranger && given && (
        <p class="trouble" role="alert">
          The server does not take this token.
        </p>
      )}
    </main>
  );
}
