import { type ComponentChildren, createContext } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import { type Call, send } from "../api.js";
import type { Path } from "../api-types.js";
import { ErrorNotice } from "./query.js";

interface Done {
  readonly does: string;
  /** Said until it is done; meanwhile it is not done again. @default "…" */
  readonly running?: string;
  readonly kind?: "plain";
  readonly hotkey?: string;
  /** Said when it is done, where it is a text. */
  act(): Promise<unknown>;
}

/** A button that acts at once, and says below it what came of it. */
export function DoButton({ does, running = "…", kind, hotkey, act }: Done) {
  const [said, setSaid] = useState<unknown>();
  const click = () => {
    if (said === running) return;
    setSaid(running);
    act().then(setSaid, setSaid);
  };
  return (
    <>
      <button type="button" class={kind} aria-keyshortcuts={hotkey} onClick={click}>
        {does}
      </button>
      {said instanceof Error && <ErrorNotice error={said} />}
      {typeof said === "string" && <p role="status">{said}</p>}
    </>
  );
}

/** A button that downloads what a call answers. */
export function DownloadButton({
  path,
  call,
  fileName,
  fileOf = (answer) => answer.blob(),
  sayOf,
  ...button
}: Omit<Done, "act"> & {
  path: Path;
  call: Call;
  fileName: string;
  /** @default the answer as it is */
  fileOf?: (answer: Response) => Promise<Blob>;
  /** Said when it is there. */
  sayOf: (file: Blob) => string | Promise<string>;
}) {
  const download = async () => {
    const file = await fileOf(await send(path, call));
    saveFile(file, fileName);
    return sayOf(file);
  };
  return <DoButton {...button} act={download} />;
}

/** Puts a file into the browser's downloads. */
function saveFile(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Something that was done. */
interface Deed {
  /** As its button says it. */
  readonly does: string;
  /** A function that undoes it; anything else where nothing does. */
  readonly undo: unknown;
  /** Asks again for what it changed. */
  again(): void;
}

/** So long a deed is shown and can be undone. */
const deedMs = 10_000;

const DeedContext = createContext((_deed: Deed) => {});

/** Says that something is done, and offers to undo it. */
export const useDeed = () => useContext(DeedContext);

/** A view, and below it for ten seconds the latest thing that was done there. */
export function Undoable({ children }: { children: ComponentChildren }) {
  const [deed, setDeed] = useState<Deed>();
  const timer = useRef(0);
  const show = (latest: Deed | undefined) => {
    clearTimeout(timer.current);
    setDeed(latest);
    if (latest) timer.current = window.setTimeout(setDeed, deedMs, undefined);
  };
  const act = async ({ undo, again }: Deed) => {
    clearTimeout(timer.current);
    await (undo as () => Promise<unknown>)().finally(again);
    show(undefined);
  };
  return (
    <DeedContext.Provider value={show}>
      {children}
      {deed && (
        <div class="deed" role="status" key={deed}>
          {deed.does}: done{" "}
          {typeof deed.undo === "function" && (
            <DoButton does="Undo" running="Undoing…" hotkey="u" act={() => act(deed)} />
          )}
        </div>
      )}
    </DeedContext.Provider>
  );
}
