import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MemoryError } from "../errors.js";
import { attempt } from "../input/plain-json.js";
import { resolvePeer } from "../peers.js";
import type { TextKind } from "./local-model.js";
import type { ModelSource } from "./model-files.js";

export interface EmbeddingRequest {
  readonly id: string;
  readonly source: ModelSource;
  readonly kind: TextKind;
  readonly texts: readonly string[];
}

export interface EmbeddingAnswer {
  readonly id: string;
  readonly vectors?: readonly Float32Array[];
  readonly problem?: string;
  /** Whether a package or a file is missing. */
  readonly isSetup?: boolean;
}

interface Shared {
  child: ChildProcess | null;
  requests: number;
  awaited: number;
  /** How often a child ended by itself in the last hour. */
  ends: number;
}

// One for all memories of this process, and for all copies of this module in its bundles.
const sharedKey = Symbol.for("mnemograph.embeddingProcess");
const sharedHolder = globalThis as { [sharedKey]?: Shared };
sharedHolder[sharedKey] ??= { child: null, requests: 0, awaited: 0, ends: 0 };
const shared = sharedHolder[sharedKey];

const hourMs = 3_600_000;

/**
 * Embeds in the child process, which is started where there is none. After it ended by itself it is
 * started once more in an hour. Only an awaited answer keeps this process running.
 * @throws MemoryError `PEER_MISSING`
 */
export async function embedInChild(
  request: Omit<EmbeddingRequest, "id">,
): Promise<readonly Float32Array[]> {
  if (shared.ends > 1) throw ended("twice in an hour");
  shared.child ??= startChild();
  const { child } = shared;
  const id = `answer ${++shared.requests}`;
  shared.awaited++;
  child.channel?.ref();
  try {
    // A child that takes nothing more has ended, which is an error of its own.
    child.send({ id, ...request } satisfies EmbeddingRequest, () => {});
    const [answer] = await once(child, id);
    const { vectors, problem = "", isSetup } = answer as EmbeddingAnswer;
    if (vectors) return vectors;
    throw isSetup ? new MemoryError("PEER_MISSING", problem) : new Error(problem);
  } finally {
    if (--shared.awaited === 0) child.channel?.unref();
  }
}

/** The error of a provider that is out of order, and says when to ask again. */
function ended(how: string): Error {
  const error = new Error(`The process of local embeddings ended: ${how}.`);
  const headers = { "retry-after": shared.ends > 1 ? "3600" : "1" };
  return Object.assign(error, { status: 503, headers });
}

function startChild(): ChildProcess {
  const file = childFile() ?? "";
  const child = fork(file, {
    serialization: "advanced",
    // Sources need the loader of this process; a debugger's port is taken by it.
    execArgv: file.endsWith(".ts") ? process.execArgv : [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.unref();
  // Each awaited answer also listens to errors.
  child.setMaxListeners(0);
  child.on("message", (answer: EmbeddingAnswer) => child.emit(answer.id, answer));
  child.on("exit", (code, signal) => child.emit("error", ended(signal ?? `exit code ${code}`)));
  child.once("error", () => {
    shared.child = null;
    shared.ends++;
    setTimeout(() => shared.ends--, hourMs).unref();
  });
  // By its channel it would end after the text that it is at.
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

/** Undefined in a bundle beside which the package is not installed. */
export function childFile(): string | undefined {
  const { url } = import.meta;
  const beside = attempt(() => fileURLToPath(new URL(`embedding-child${extname(url)}`, url)));
  if (beside && existsSync(beside)) return beside;
  const manifest = attempt(() => resolvePeer("mnemograph/package.json"));
  return manifest && join(dirname(manifest), "dist/local-embeddings/embedding-child.js");
}
