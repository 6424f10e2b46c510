import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { ApiProblem } from "./api.js";
import { OwnerChooser, OwnerPicker, UnknownOwner } from "./owner-picker.js";
import { Undoable } from "./parts/do-button.js";
import { useKeys } from "./parts/keys.js";
import { Page } from "./parts/layout.js";
import { ErrorNotice, useAnswer } from "./parts/query.js";
import { SignIn } from "./parts/sign-in.js";
import { go, HereContext, hrefOf, ownerOf, useAddress, useHere } from "./place.js";
import { tabOf, type View, views } from "./views/views.js";

/** The frame of the page: which view, whose memory, and the view. */
export function Shell() {
  const place = useAddress();
  const owner = ownerOf(place.params);
  const view = (views[place.view] ?? views.overview) as View;
  const { error, value, loading, again } = useAnswer("/users", { query: { limit: 1 } });
  useEffect(() => {
    document.title = `${view.name} · Mnemograph`;
  }, [view]);
  useKeys(() => view.tab && go(view.tab, owner));
  if (loading && !value && !error) return <p class="loading alone">Loading…</p>;
  // The API hides the list of users from a user. An operator who was let in keeps the page after
  // any later error.
  const isUser = error instanceof ApiProblem && error.status === 404;
  if (!value && !isUser) return <NotIn error={error as Error} again={again} />;
  return (
    <HereContext.Provider value={{ ...place, owner, isOperator: !isUser }}>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href={hrefOf("overview", owner)}>
          <Logo /> Mnemograph
        </a>
        {!isUser && <OwnerChooser />}
        <Tabs current={tabOf(place.view)} />
      </header>
      <main id="main" tabIndex={-1} class={`at-${place.view}`}>
        {!isUser && <UnknownOwner />}
        <Shown />
      </main>
    </HereContext.Provider>
  );
}

/** The view that the address names, or what is missing for it. */
function Shown() {
  const { view: name, params, owner, isOperator } = useHere();
  const view = views[name];
  if (view === undefined) {
    return (
      <Page title="There is no such page">
        <p class="note">
          <a href={hrefOf("overview", owner)}>To the overview</a>
        </p>
      </Page>
    );
  }
  const { userId, appId, thread, id } = params;
  if (isOperator && view.needsOwner && userId === undefined && appId === undefined) {
    return (
      <Page title={view.name}>
        <p class="note">Whose? Choose a user or an app.</p>
        <OwnerPicker />
      </Page>
    );
  }
  return (
    <Guarded key={JSON.stringify([name, owner, thread, id])}>
      <Undoable>
        <view.show />
      </Undoable>
    </Guarded>
  );
}

/** What is in it, or that it could not be shown. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary();
  if (!error) return children;
  const message = `This cannot be shown: ${(error as Error).message}`;
  return <ErrorNotice error={new Error(message)} again={reset} />;
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

function Tabs({ current }: { current: string }) {
  const { owner, isOperator } = useHere();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ inline: "center" });
  }, [current]);
  const shown = Object.entries(views).filter(
    ([, { tab, operators }]) => tab === undefined && (isOperator || !operators),
  );
  return (
    <nav aria-label="Views" ref={nav}>
      {shown.map(([view, { name }]) => (
        <a href={hrefOf(view, owner)} aria-current={view === current ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** Why there is nothing to see yet. */
function NotIn({ error, again }: { error: Error; again: () => void }) {
  const [given, setGiven] = useState(false);
  const isStranger = error instanceof ApiProblem && (error.status === 401 || error.status === 403);
  const signIn = () => {
    setGiven(true);
    again();
  };
  return (
    <main class="alone">
      <Logo />
      <h1>Mnemograph inspector</h1>
      {!isStranger && <ErrorNotice error={error} again={again} />}
      {isStranger && (
        <>
          <p>
            This server does not know you. Log in to it as you usually do and load this page again,
            give a token that it takes, or start <code>mnemograph inspect</code> again: what it
            prints is good for one visit.
          </p>
          <SignIn again={signIn} />
          {given && (
            <p class="trouble" role="alert">
              The server does not take this token.
            </p>
          )}
        </>
      )}
    </main>
  );
}
