import { useEffect, useState } from "preact/hooks";
import { ask, send } from "../api.js";
import type { ForgetState } from "../api-types.js";
import { useAskFirst } from "../parts/ask-first.js";
import { Trouble } from "../parts/asked.js";
import { Counts } from "../parts/counts.js";
import { count } from "../parts/texts.js";
import { type Params, whoseOf } from "../place.js";
import type { ViewProps } from "../view.js";
import { ImportFile } from "./import-file.js";

/** How often the progress of erasing is asked for. */
const progressMs = 500;

/** All that is kept of somebody: out, in, and gone for good. */
export function EraseAndMove({ place, isOperator }: ViewProps) {
  const whose = whoseOf(place.params);
  const name = whose.user ?? whose.app ?? "me";
  return (
    <>
      <Export whose={whose} name={name} />
      {isOperator && <ImportFile />}
      <Erase key={JSON.stringify(whose)} whose={whose} name={name} />
    </>
  );
}

function Export({ whose, name }: { readonly whose: Params; readonly name: string }) {
  const [state, setState] = useState<Error | string | null>(null);
  const download = async () => {
    setState("Reading…");
    try {
      const blob = await (await send("export", { whose })).blob();
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `${name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_")}.jsonl`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      setState(`${count(blob.size)} bytes are in your downloads.`);
    } catch (error) {
      setState(error as Error);
    }
  };
  return (
    <section aria-labelledby="export">
      <h2 id="export">Export</h2>
      <p>Everything that is kept of {name}, as lines of JSON.</p>
      <button type="button" onClick={() => void download()}>
        Download
      </button>
      {state instanceof Error ? <Trouble error={state} /> : state !== null && <p role="status">{state}</p>}
    </section>
  );
}

function Erase({ whose, name }: { readonly whose: Params; readonly name: string }) {
  const [left, setLeft] = useState<NonNullable<ForgetState["left"]> | null>(null);
  const [progress, setProgress] = useState<ForgetState | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const { ask: askFirst, dialog } = useAskFirst(() => {});
  const dryRun = async () => {
    setError(null);
    try {
      const state = await ask<ForgetState>("forget", { whose, query: { count: true } });
      setLeft(state.left ?? null);
    } catch (failure) {
      setError(failure as Error);
    }
  };
  const running = progress?.state === "running";
  useEffect(() => {
    if (!running) return;
    const timer = setTimeout(() => {
      ask<ForgetState>("forget", { whose }).then(setProgress, setError);
    }, progressMs);
    return () => clearTimeout(timer);
  }, [progress, running, whose]);
  const erase = () =>
    askFirst({
      ...{
        title: `Erase everything of ${name}?`,
        does: "Erase for good",
        danger: true,
        reason: false,
        typed: name,
      },
      about: (
        <p>
          {left && `${count(left.total)} rows go, `}with checkpoints and audit trail. Nothing brings them
          back.
        </p>
      ),
      async act() {
        setProgress(await ask<ForgetState>("forget", { method: "POST", whose, body: {} }));
      },
    });
  return (
    <section aria-labelledby="erase">
      <h2 id="erase">Erase</h2>
      <p>First count what would go; nothing is deleted by counting.</p>
      <div class="buttons">
        <button type="button" onClick={() => void dryRun()}>
          Count what would go
        </button>
        <button
          type="button"
          class="danger"
          disabled={left === null || left.total === 0 || running}
          onClick={erase}
        >
          Erase…
        </button>
      </div>
      {error && <Trouble error={error} />}
      {left && <Counts removed={left.removed} total={left.total} />}
      {progress && <Progress state={progress} />}
      {dialog}
    </section>
  );
}

function Progress({ state: { state, done, total, problem } }: { readonly state: ForgetState }) {
  const words = {
    running: "Erasing…",
    done: "All of it is gone.",
    failed: "It stopped: run it again.",
    none: "",
  };
  return (
    <div role="status">
      <progress
        max={Math.max(1, total)}
        value={state === "done" ? Math.max(1, total) : done}
        aria-label="Erased"
      />
      <p>
        {words[state]} {count(done)} of {count(total)} rows
      </p>
      {problem && <p class="trouble">{problem.detail}</p>}
    </div>
  );
}
