import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiProblem } from "../api.js";

/** What was asked for: there, on its way, or not to be had. */
export interface Asked<Value> {
  readonly value: Value | null;
  readonly error: Error | null;
  readonly loading: boolean;
  /** Asks again; what is there stays meanwhile. */
  again(): void;
}

/** Asks once, and again whenever one of `on` changes; an answer that nobody waits for any more is dropped. */
export function useAsked<Value>(ask: (signal: AbortSignal) => Promise<Value>, on: readonly unknown[]): Asked<Value> {
  const [state, setState] = useState<Omit<Asked<Value>, "again">>({
    value: null,
    error: null,
    loading: true,
  });
  const [times, setTimes] = useState(0);
  const asked = useRef<string>("");
  const key = JSON.stringify(on);
  useEffect(() => {
    const abort = new AbortController();
    const same = asked.current === key;
    asked.current = key;
    setState((before) => ({ value: same ? before.value : null, error: null, loading: true }));
    ask(abort.signal).then(
      (value) => abort.signal.aborted || setState({ value, error: null, loading: false }),
      (error: Error) => abort.signal.aborted || setState({ value: null, error, loading: false }),
    );
    return () => abort.abort();
  }, [key, times]);
  return { ...state, again: () => setTimes((before) => before + 1) };
}

/** What is shown of something asked for: the thing, or why it is not there. */
export function Answer<Value>({
  asked,
  missing = "This server cannot tell that.",
  children,
}: {
  readonly asked: Asked<Value>;
  /** Said where the server has no such call. */
  readonly missing?: string;
  readonly children: (value: Value) => ComponentChildren;
}) {
  const { value, error, loading } = asked;
  if (error) return <Trouble error={error} missing={missing} />;
  if (value === null) return loading ? <p class="loading">Loading…</p> : null;
  return (
    <div class="answer" aria-busy={loading}>
      {children(value)}
    </div>
  );
}

/** Why something could not be had, in a sentence. */
export function Trouble({
  error,
  missing = "This server cannot do that.",
}: {
  readonly error: Error;
  readonly missing?: string;
}) {
  const isMissing = error instanceof ApiProblem && error.isMissing;
  return (
    <p class={isMissing ? "note" : "trouble"} role={isMissing ? undefined : "alert"}>
      {isMissing ? missing : error.message}
    </p>
  );
}
