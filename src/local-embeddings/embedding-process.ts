import { type ChildProcess, fork } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MemoryError } from "../errors.js";
import { resolvePeer } from "../peers.js";
import type { EmbeddingAnswer, EmbeddingRequest } from "./embedding-request.js";

interface Pending {
  resolve(vectors: readonly Float32Array[]): void;
  reject(error: Error): void;
}

/** One for all memories of this process, and for all copies of this module in its bundles. */
interface Shared {
  child: ChildProcess | null;
  readonly pending: Map<number, Pending>;
  lastId: number;
  /** When a child ended by itself. */
  endedAtMs: readonly number[];
}

const isSource = import.meta.url.endsWith(".ts");

const key = Symbol.for("mnemograph.embeddingProcess");
const holder = globalThis as { [key]?: Shared };
holder[key] ??= { child: null, pending: new Map(), lastId: 0, endedAtMs: [] };
const shared = holder[key];

/** A child that ended is started again once in this time: what ends it may be in every text. */
const restartAfterMs = 3_600_000;

/**
 * Asks the child process, and starts it where there is none. It never keeps this process running,
 * except while an answer is awaited.
 */
export function embedInChild(
  request: Omit<EmbeddingRequest, "id">,
): Promise<readonly Float32Array[]> {
  return new Promise((resolve, reject) => {
    shared.child ??= startChild();
    const { child, pending } = shared;
    const id = ++shared.lastId;
    pending.set(id, { resolve, reject });
    child.channel?.ref();
    // Where it fails, the child has ended, and its end rejects the request.
    child.send({ id, ...request } satisfies EmbeddingRequest, () => {});
  });
}

function startChild(): ChildProcess {
  const nowMs = performance.now();
  shared.endedAtMs = shared.endedAtMs.filter((atMs) => nowMs - atMs < restartAfterMs);
  if (shared.endedAtMs.length > 1)
    throw new ChildEnded("The process of the local embeddings ended twice within an hour.");
  const child = fork(childFile(), {
    serialization: "advanced",
    // A debugger's port is the parent's. Loaders of TypeScript are in it, too.
    execArgv: isSource ? process.execArgv : [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.unref();
  child.channel?.unref();
  child.on("message", settle);
  child.once("error", ({ message }) => settleAll(child, message));
  child.once("exit", (code, signal) => settleAll(child, signal ?? `exit code ${code}`));
  // Otherwise it would finish its text first.
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

function settle({ id, vectors, problem }: EmbeddingAnswer): void {
  const { child, pending } = shared;
  const request = pending.get(id);
  pending.delete(id);
  if (pending.size === 0) child?.channel?.unref();
  if (vectors) request?.resolve(vectors);
  else if (problem?.isSetup) request?.reject(new MemoryError("PEER_MISSING", problem.message));
  else request?.reject(new Error(problem?.message));
}

function settleAll(child: ChildProcess, how: string): void {
  if (shared.child !== child) return;
  shared.child = null;
  shared.endedAtMs = [...shared.endedAtMs, performance.now()];
  const error = new ChildEnded(`The process of the local embeddings ended: ${how}.`);
  for (const { reject } of shared.pending.values()) reject(error);
  shared.pending.clear();
}

/** Read as the error of a provider that is out of order, and says when to ask again. */
class ChildEnded extends Error {
  readonly status = 503;
  readonly headers = { "retry-after": shared.endedAtMs.length > 1 ? "3600" : "1" };
}

/** @throws MemoryError `PEER_MISSING` */
function childFile(): string {
  if (isSource) return fileURLToPath(new URL("./child.ts", import.meta.url));
  try {
    const folder = dirname(resolvePeer("mnemograph/package.json"));
    return join(folder, "dist/local-embeddings/child.js");
  } catch (cause) {
    const message =
      "Local embeddings start a file of the package mnemograph, which cannot be found beside this bundle: " +
      "run `npm install mnemograph` there, and bundle with `--external:mnemograph` or `serverExternalPackages`.";
    throw new MemoryError("PEER_MISSING", message, { cause });
  }
}
