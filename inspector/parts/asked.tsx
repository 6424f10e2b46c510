import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiProblem } from "../api.js";
import { SignIn } from "./sign-in.js";

/** What was asked for: there, on its way, or not to be had. */
export interface Asked<Value> {
  /** Also what was there before an error. */
  readonly value: Value | null;
  readonly error: Error | null;
  readonly loading: boolean;
  /** Asks again; what is there stays meanwhile. */
  again(): void;
}

/** How soon a server that is down is asked again, in ms. */
const againMs = 4_000;

/**
 * Asks once, and again whenever one of `on` changes; an answer that nobody waits for any more is
 * dropped.
 */
export function useAsked<Value>(
  ask: (signal: AbortSignal) => Promise<Value>,
  on: readonly unknown[],
): Asked<Value> {
  const [state, setState] = useState<Omit<Asked<Value>, "again">>({
    value: null,
    error: null,
    loading: true,
  });
  const [times, setTimes] = useState(0);
  const asked = useRef<string>("");
  const key = JSON.stringify(on);
  const again = () => setTimes((before) => before + 1);
  useEffect(() => {
    const abort = new AbortController();
    let timer: number | undefined;
    const same = asked.current === key;
    asked.current = key;
    setState(({ value, error }) => ({
      value: same ? value : null,
      error: same ? error : null,
      loading: true,
    }));
    ask(abort.signal).then(
      (value) => abort.signal.aborted || setState({ value, error: null, loading: false }),
      (error: Error) => {
        if (abort.signal.aborted) return;
        setState(({ value }) => ({ value, error, loading: false }));
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

/** What is shown of something asked for: the thing, or why it is not there. */
export function Answer<Value>({
  asked: { value, error, loading, again },
  missing = "This server cannot tell that.",
  children,
}: {
  readonly asked: Asked<Value>;
  /** Said where the server has no such call. */
  readonly missing?: string;
  readonly children: (value: Value) => ComponentChildren;
}) {
  return (
    <>
      {error && <Trouble error={error} missing={missing} again={again} />}
      {value === null && loading && !error && <p class="loading">Loading…</p>}
      {value !== null && (
        <div class="answer" aria-busy={loading}>
          {children(value)}
        </div>
      )}
    </>
  );
}

/** Why something could not be had, in a sentence, and what can be done about it. */
export function Trouble({
  error,
  missing = "This server cannot do that.",
  again,
}: Readonly<{ error: Error; missing?: string; again?: (() => void) | undefined }>) {
  if (error instanceof ApiProblem && error.isMissing) return <p class="note">{missing}</p>;
  const isStranger = error instanceof ApiProblem && error.status === 401;
  const isDown = error instanceof ApiProblem && error.isDown;
  return (
    <div class="trouble">
      <p role="alert">
        {error.message}
        {isDown && again && " It is asked again every few seconds."}
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
