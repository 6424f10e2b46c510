import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { ApiProblem, ask, type Call } from "../api.js";
import type { Answer, Method, Path } from "../api-types.js";
import { useHere } from "../place.js";
import { SignIn } from "./sign-in.js";

/** What was asked of the API: there, on its way, or failed. */
export interface Query<Value> {
  /** Also what was there before an error. */
  readonly value: Value | null;
  readonly error: Error | null;
  readonly loading: boolean;
  /** Asks again; what is there stays meanwhile. */
  again(): void;
}

/** A call of the API for a query: about the owner that is looked at, unless it names another. */
export type Ask = typeof ask;

/** How soon a server that is down is asked again, in ms. */
const againMs = 4_000;

/**
 * Asks once, and again whenever the owner or one of `on` changes; drops answers that come too late.
 */
export function useQuery<Value>(
  read: (ask: Ask) => Promise<Value>,
  on: readonly unknown[] = [],
): Query<Value> {
  const { owner } = useHere();
  const key = JSON.stringify([owner, on]);
  const nothing = { key, value: null, error: null, loading: true };
  const [state, setState] = useState<Omit<Query<Value>, "again"> & { readonly key: string }>(
    nothing,
  );
  const [times, setTimes] = useState(0);
  const again = () => setTimes((before) => before + 1);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setState((before) => (before.key === key ? { ...before, loading: true } : nothing));
    read((path, call) => ask(path, { owner, signal, ...call })).then(
      (value) => signal.aborted || setState({ key, value, error: null, loading: false }),
      (error: Error) => {
        if (signal.aborted) return;
        setState((before) => ({ ...before, error, loading: false }));
        if (error instanceof ApiProblem && error.isDown) timer = setTimeout(again, againMs);
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, times]);
  return { ...state, again };
}

/** The answer to one call. */
export function useAnswer<To extends Path, By extends Method = "get">(
  path: To,
  call: Call<By> = {},
): Query<Answer<To, By>> {
  return useQuery((askApi) => askApi(path, call), [path, call]);
}

const AgainContext = createContext(() => {});

/** Asks again for the result that is shown around, as after a change of it. */
export const useAgain = (): (() => void) => useContext(AgainContext);

/** What was asked for, or why it is not there. */
export function QueryResult<Value>({
  query: { value, error, loading, again },
  children,
}: {
  query: Query<Value>;
  children: (value: Value) => ComponentChildren;
}) {
  return (
    <>
      {error && <ErrorNotice error={error} again={again} />}
      {value === null && loading && !error && <p class="loading">Loading…</p>}
      {value !== null && (
        <div class="answer" aria-busy={loading}>
          <AgainContext.Provider value={again}>{children(value)}</AgainContext.Provider>
        </div>
      )}
    </>
  );
}

/** What failed, in a sentence, and what can be done about it. */
export function ErrorNotice({ error, again }: { error: Error; again?: (() => void) | undefined }) {
  const problem = error instanceof ApiProblem ? error : undefined;
  const isStranger = problem?.status === 401;
  return (
    <div class="trouble">
      <p role="alert">
        {error.message}
        {problem?.isDown && again && " It is asked again every few seconds."}
      </p>
      {isStranger && <SignIn again={again} />}
      {again && !isStranger && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}
