import { Annotation, UntrackedValue } from "@langchain/langgraph";
import { UntrackedValueChannel } from "@langchain/langgraph/web";
import type { Recalled } from "../recall/recall.js";

/** The state key that the memory nodes use. */
export const memoryKey = "mnemograph";

/** What the memory nodes keep in a graph's state. Never checkpointed: forgetting must reach everything stored. */
export interface MemoryState {
  /** Undefined before recall, and in a run resumed after it; null when recall failed and the turn goes on. */
  [memoryKey]?: Recalled | null | undefined;
}

/** Fields to spread into a `StateSchema` of one's own. */
export const memoryStateFields = {
  [memoryKey]: new UntrackedValue<Recalled | null | undefined>(undefined, { guard: false }),
};

/** The same for `Annotation.Root`: spread `memoryAnnotation.spec`. */
export const memoryAnnotation = Annotation.Root({
  [memoryKey]: () => new UntrackedValueChannel<Recalled | null | undefined>({ guard: false }),
});
