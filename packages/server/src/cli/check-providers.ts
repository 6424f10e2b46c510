import {
  errorKind,
  localEmbeddings,
  MemoryError,
  propertyOf,
  statusOf,
  withDeadline,
} from "mnemograph/contract";
import { bad, type Check, ok } from "./check.js";
import type { MemoryFlags } from "./flags.js";
import { loadModels, type Models } from "./open-memory.js";
import { WrongUse } from "./output.js";

type ProviderFlags = Pick<MemoryFlags, "model" | "embeddings"> & { readonly ask?: true };

/** Without `--ask` none. @throws MemoryError `INVALID_INPUT` */
export async function loadProviders({ ask, ...flags }: ProviderFlags): Promise<Models> {
  const isNamed = flags.model !== undefined || flags.embeddings !== undefined;
  if (ask && isNamed) return loadModels(flags);
  if (!ask && !isNamed) return {};
  throw new WrongUse(
    ask
      ? "--ask needs --model MODULE, --embeddings MODULE, or both."
      : "doctor takes --model and --embeddings with --ask.",
  );
}

/** Sends each of them one question, without retries. */
export async function askProviders({ model, embeddings }: Models): Promise<Check[]> {
  const checks: Check[] = [];
  if (model)
    checks.push(
      await asked("model", model, async (signal) => {
        const { text } = await model.invoke("Answer with one word: ready", { signal });
        return text.trim() === "" ? "It answered without a word" : "It answered";
      }),
    );
  const embedder = embeddings === "local" ? localEmbeddings() : embeddings;
  if (embedder)
    checks.push(
      await asked("embeddings", embedder, async () => {
        const { length } = await embedder.embedQuery("Is anybody there?");
        return `They answered with ${length} dimensions`;
      }),
    );
  return checks;
}

/** Longer than most models think about one word. */
const timeoutMs = 30_000;

async function asked(
  check: string,
  provider: object,
  ask: (signal: AbortSignal) => Promise<string>,
): Promise<Check> {
  withoutRetries(provider);
  const begunMs = performance.now();
  try {
    const says = await withDeadline(timeoutMs, ask);
    return ok(check, `${says} in ${Math.round(performance.now() - begunMs)} ms.`);
  } catch (error) {
    // A provider's message may quote its key or the prompt.
    const says = MemoryError.is(error) ? error.message : `No answer: ${errorKind(error)}.`;
    return bad(check, says, adviceFor(statusOf(error)));
  }
}

/** Clients of LangChain hide a status behind minutes of retries. */
function withoutRetries(provider: object): void {
  // ChatOpenAI has a client within it for each of its two protocols.
  for (const client of [provider, ...Object.values(provider)]) {
    const caller = propertyOf(Object(client), "caller");
    if (typeof propertyOf(Object(caller), "maxRetries") === "number")
      Object.assign(caller as object, { maxRetries: 0 });
  }
}

function adviceFor(status: number | undefined): string {
  if (status === undefined)
    return "Check the address, the network and the provider's own page of status.";
  if (status === 401 || status === 403) return "Check the key, and what it may use.";
  if (status === 404) return "Check the model's name and the address.";
  if (status === 429) return "Wait, or raise the provider's limit.";
  if (status >= 500) return "The provider fails: look at its page of status.";
  return "The provider refuses the request: check the model's settings.";
}
