import { useState } from "preact/hooks";
import { type Call, send } from "../api.js";
import type { Path } from "../api-types.js";
import { ErrorNotice } from "./query.js";

/** A button that downloads what a call answers, and says below it what came of it. */
export function DownloadButton({
  does,
  running,
  path,
  call,
  fileName,
  fileOf = (answer) => answer.blob(),
  sayOf,
}: {
  does: string;
  /** Said until it is there. */
  running: string;
  path: Path;
  call: Call;
  fileName: string;
  /** @default the answer as it is */
  fileOf?: (answer: Response) => Promise<Blob>;
  /** Said when it is there. */
  sayOf: (file: Blob) => string | Promise<string>;
}) {
  const [said, setSaid] = useState<Error | string | null>(null);
  const download = async () => {
    const file = await fileOf(await send(path, call));
    saveFile(file, fileName);
    return sayOf(file);
  };
  const click = () => {
    setSaid(running);
    download().then(setSaid, setSaid);
  };
  return (
    <>
      <button type="button" onClick={click}>
        {does}
      </button>
      {said instanceof Error && <ErrorNotice error={said} />}
      {typeof said === "string" && <p role="status">{said}</p>}
    </>
  );
}

/** Puts a file into the browser's downloads. */
function saveFile(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
