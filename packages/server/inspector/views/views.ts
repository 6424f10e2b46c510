import type { ComponentType } from "preact";
import { ChangesView } from "./changes.js";
import { Costs } from "./costs.js";
import { ExportAndDelete } from "./export-and-delete.js";
import { Forgotten } from "./forgotten.js";
import { Memories } from "./memories.js";
import { MemoryDetail } from "./memory-detail.js";
import { Overview } from "./overview.js";
import { Settings } from "./settings.js";
import { TestRetrieval } from "./test-retrieval.js";
import { ThreadView } from "./thread.js";
import { Threads } from "./threads.js";
import { Waiting } from "./waiting.js";

/** A view of the page. */
export interface View {
  readonly name: string;
  /** Whether somebody's memory has to be named first. @default everybody's can be shown */
  readonly needsOwner?: true;
  /** Whether only operators have it. */
  readonly operators?: true;
  /** The view whose tab it belongs to. @default it has one of its own */
  readonly tab?: string;
  readonly show: ComponentType;
}

/** All views, by their names in the address; those with a tab in its order. */
export const views: Readonly<Record<string, View>> = {
  overview: { name: "Overview", show: Overview },
  threads: { name: "Conversations", show: Threads },
  thread: { name: "Conversation", needsOwner: true, tab: "threads", show: ThreadView },
  memories: { name: "Memories", show: Memories },
  memory: { name: "Memory", needsOwner: true, tab: "memories", show: MemoryDetail },
  waiting: { name: "Waiting", show: Waiting },
  costs: { name: "Cost", show: Costs },
  question: { name: "Test retrieval", needsOwner: true, show: TestRetrieval },
  changes: { name: "Changes", needsOwner: true, show: ChangesView },
  forgotten: { name: "Forgotten", operators: true, show: Forgotten },
  erase: { name: "Export & delete", needsOwner: true, show: ExportAndDelete },
  settings: { name: "Settings", operators: true, show: Settings },
};

/** The view whose tab is marked where a view is shown. */
export const tabOf = (view: string): string => views[view]?.tab ?? view;
