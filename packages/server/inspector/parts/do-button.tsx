import { useState } from "preact/hooks";
import { type Call, send } from "../api.js";
import type { Path } from "../api-types.js";
import { ErrorNotice } from "./query.js";

interface Done {
  readonly does: string;
  /** Said until it is done. */
  readonly running?: string;
  readonly kind?: "plain";
  /** Said when it is done, where it is a text. */
  act(): Promise<unknown>;
}

/** A button that acts at once, and says below it what came of it. */
export function DoButton({ does, running, kind, act }: Done) {
  const [said, setSaid] = useState<unknown>();
  const click = () => {
    setSaid(running);
    act().then(setSaid, setSaid);
  };
  return (
    <>
      <button type="button" class={kind} onClick={click}>
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
