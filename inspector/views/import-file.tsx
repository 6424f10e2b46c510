import { useState } from "preact/hooks";
import { ask } from "../api.js";
import { Trouble } from "../parts/asked.js";
import { Counts } from "../parts/counts.js";
import { count } from "../parts/texts.js";

/** What is in a file, as far as it can be told without writing any of it. */
interface Preview {
  readonly file: File;
  readonly whose: string;
  readonly lines: Readonly<Record<string, number>>;
  readonly unread: number;
}

interface Imported {
  readonly written: Readonly<Record<string, number>>;
  readonly total: number;
  readonly quarantined: number;
}

/** Reads an export and shows what is in it, before any of it is written. */
export function ImportFile() {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [result, setResult] = useState<Imported | Error | "busy" | null>(null);
  const choose = async (file: File | undefined) => {
    setResult(null);
    setPreview(file ? await readPreview(file) : null);
  };
  const write = async () => {
    if (!preview) return;
    setResult("busy");
    const call = { method: "POST", body: preview.file } as const;
    setResult(await ask<Imported>("import", call).catch((error: Error) => error));
  };
  return (
    <section aria-labelledby="import">
      <h2 id="import">Import</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void write();
        }}
      >
        <label>
          An export, as lines of JSON
          <input
            type="file"
            accept=".jsonl,.ndjson,.json"
            onChange={(event) => void choose(event.currentTarget.files?.[0])}
          />
        </label>
        {preview && <PreviewTable preview={preview} />}
        {preview && (
          <button type="submit" class="primary" disabled={result === "busy"}>
            Write it
          </button>
        )}
      </form>
      {result === "busy" && <p role="status">Writing…</p>}
      {result instanceof Error && <Trouble error={result} />}
      {result !== null && result !== "busy" && !(result instanceof Error) && <Done imported={result} />}
    </section>
  );
}

function PreviewTable({ preview }: { readonly preview: Preview }) {
  const { lines, whose, unread, file } = preview;
  const total = Object.values(lines).reduce((sum, each) => sum + each, 0);
  return (
    <div role="status">
      <p>
        <bdi>{file.name}</bdi> is of <strong>{whose}</strong>. Nothing is written yet.
        {unread > 0 && ` ${count(unread)} lines are no lines of an export.`}
      </p>
      <Counts removed={lines} total={total} />
    </div>
  );
}

function Done({ imported }: { readonly imported: Imported }) {
  const { written, total, quarantined } = imported;
  return (
    <div role="status">
      <p>
        {count(total)} were written, {count(quarantined)} of them wait in quarantine.
      </p>
      <Counts removed={written} total={total} />
    </div>
  );
}

/** Counts the lines of a file by their type, piece by piece. */
async function readPreview(file: File): Promise<Preview> {
  const lines: Record<string, number> = Object.create(null);
  let [whose, unread, rest] = ["nobody that it names", 0, ""];
  const read = (line: string) => {
    if (line.trim() === "") return;
    try {
      const value = JSON.parse(line) as { readonly type?: unknown; readonly scope?: Record<string, string> };
      if (typeof value.type !== "string") throw new TypeError("no type");
      lines[value.type] = (lines[value.type] ?? 0) + 1;
      if (value.scope && value.type === "header") whose = Object.values(value.scope).join(" / ");
    } catch {
      unread += 1;
    }
  };
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const pieces = (rest + value).split("\n");
    rest = pieces.pop() ?? "";
    for (const line of pieces) read(line);
  }
  read(rest);
  return { file, whose, lines, unread };
}
