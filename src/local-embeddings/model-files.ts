import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MemoryError, messageOf } from "../errors.js";
import type { LocalModel } from "./local-models.js";

export interface ModelSource {
  readonly model: LocalModel;
  readonly folder: string;
  /** Whether files that are missing or damaged are downloaded. */
  readonly mayDownload: boolean;
}

type ModelFile = Readonly<Record<"path" | "url" | "digest", string>>;

function filesOf({ model, folder }: ModelSource): ModelFile[] {
  // The hub's own variable names a mirror.
  const { HF_ENDPOINT: hub = "https://huggingface.co" } = process.env;
  return Object.entries(model.files).map(([name, digest]) => ({
    path: join(folder, name),
    url: `${hub}/${model.repository}/resolve/${model.revision}/${name}`,
    digest,
  }));
}

/** @throws MemoryError `PEER_MISSING` for a missing file that may not be downloaded */
export function requireFiles(source: ModelSource): void {
  const missing = filesOf(source).find(({ path }) => !existsSync(path));
  if (missing && !source.mayDownload) throw unusable(missing, "is missing");
}

/**
 * Downloads what the folder lacks, and what is damaged in it.
 * @throws MemoryError `PEER_MISSING`
 */
export async function completeFiles(source: ModelSource): Promise<void> {
  requireFiles(source);
  for (const file of filesOf(source)) {
    const content = await readFile(file.path).catch(() => Buffer.of());
    if (contentDigest(content) === file.digest) continue;
    if (!source.mayDownload) throw unusable(file, "is damaged, or of another model");
    await download(file);
  }
}

const contentDigest = (content: Buffer) => createHash("sha256").update(content).digest("hex");

async function download(file: ModelFile): Promise<void> {
  // Other processes may read or download the same file.
  const part = `${file.path}.${randomUUID()}`;
  try {
    const response = await fetch(file.url);
    const content = Buffer.from(await response.arrayBuffer());
    if (!response.ok) throw new Error(`status ${response.status}`);
    if (contentDigest(content) !== file.digest) throw new Error("it arrives damaged");
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(part, content);
    await rename(part, file.path);
  } catch (error) {
    // `fetch` has the reason in the cause of its error.
    const { cause = error } = error as Error;
    throw unusable(file, `cannot be downloaded (${messageOf(cause)})`);
  }
}

function unusable({ path, url }: ModelFile, problem: string): MemoryError {
  const command = `curl -fL --create-dirs -o "${path}" ${url}`;
  return new MemoryError(
    "PEER_MISSING",
    `The local model's file ${path} ${problem}: run \`${command}\`.`,
  );
}
