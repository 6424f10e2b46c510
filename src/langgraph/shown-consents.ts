import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Recalled } from "../recall/recall.js";

/** Ids of the requests that the memory blocks of each run listed, in their order; one list for each block. */
const shown = new WeakMap<object, string[][]>();

/** Notes what an agent of the run is shown. */
export function noteShownConsents(config: LangGraphRunnableConfig, { consents }: Recalled): void {
  if (!config.control) return;
  shown.set(config.control, [...(shown.get(config.control) ?? []), consents.map(({ id }) => id)]);
}

/** Whether an agent of the run was shown the request, so that it was made before the run began to answer. */
export function wasShown(config: LangGraphRunnableConfig, id: string): boolean {
  return listsOf(config).some((list) => list.includes(id));
}

/** The request with that number, from 1; null where there is none, or where the run's agents were shown others by it. */
export function shownAs(config: LangGraphRunnableConfig, number: number): string | null {
  const ids = new Set(listsOf(config).map((list) => list[number - 1]));
  const [id] = ids;
  return ids.size === 1 && id !== undefined ? id : null;
}

function listsOf(config: LangGraphRunnableConfig): readonly (readonly string[])[] {
  return (config.control && shown.get(config.control)) ?? [];
}
