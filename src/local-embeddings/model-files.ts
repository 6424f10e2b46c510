import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MemoryError, messageOf } from "../errors.js";
import type { LocalModel } from "./local-models.js";

export interface ModelSource {
  readonly model: LocalModel;
  readonly folder: string;
  /** The address that missing files are downloaded from. */
  readonly hub: string;
  readonly mayDownload: boolean;
}

interface ModelFile {
  readonly path: string;
  readonly url: string;
  readonly digest: string;
}

const filesOf = ({ model, folder, hub }: ModelSource): ModelFile[] =>
  Object.entries(model.files).map(([path, digest]) => {
    const url = `${hub}/${model.repository}/resolve/${model.revision}/${path}`;
    return { path: join(folder, path), url, digest };
  });

/** @throws MemoryError `PEER_MISSING` for a missing file that may not be downloaded */
export function requireFolder(source: ModelSource): void {
  if (source.mayDownload) return;
  const missing = filesOf(source).find(({ path }) => !existsSync(path));
  if (missing) throw unusable(missing, "is missing");
}

/**
 * Checks that the folder has each file of the model unchanged, and downloads what it lacks.
 * @throws MemoryError `PEER_MISSING`
 */
export async function ensureModelFiles(source: ModelSource): Promise<void> {
  for (const file of filesOf(source)) {
    const found = await readFile(file.path).catch(() => null);
    if (found !== null && digestOf(found) === file.digest) continue;
    if (!source.mayDownload)
      throw unusable(file, found ? "is damaged or of another model" : "is missing");
    await save(file, await download(file));
  }
}

const digestOf = (content: Buffer) => createHash("sha256").update(content).digest("hex");

async function download(file: ModelFile): Promise<Buffer> {
  let response: Response;
  let content: Buffer;
  try {
    response = await fetch(file.url);
    content = Buffer.from(await response.arrayBuffer());
  } catch (cause) {
    // `fetch` says why in the cause of its error.
    const why = messageOf((cause as Error).cause ?? cause);
    throw unusable(file, `cannot be downloaded (${why})`, cause);
  }
  if (!response.ok) throw unusable(file, `cannot be downloaded (status ${response.status})`);
  if (digestOf(content) !== file.digest) throw unusable(file, "arrives damaged from the hub");
  return content;
}

/** Renames a whole file, since other processes may read or download the same one. */
async function save(file: ModelFile, content: Buffer): Promise<void> {
  const part = `${file.path}.${randomUUID()}`;
  try {
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(part, content);
    await rename(part, file.path);
  } catch (cause) {
    throw unusable(file, `cannot be written to the \`cacheDir\` (${messageOf(cause)})`, cause);
  }
}

function unusable({ path, url }: ModelFile, problem: string, cause?: unknown): MemoryError {
  const command = `curl -fL --create-dirs -o "${path}" ${url}`;
  const message = `${path} of the local model ${problem}: run \`${command}\`.`;
  return new MemoryError("PEER_MISSING", message, { cause });
}
