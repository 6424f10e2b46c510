import type { View } from "../view.js";
import { ChangesView } from "./changes.js";
import { Costs } from "./costs.js";
import { ExportAndDelete } from "./export-and-delete.js";
import { Forgotten } from "./forgotten.js";
import { Memories } from "./memories.js";
import { MemoryDetail } from "./memory-detail.js";
import { Overview } from "./overview.js";
import { TestRetrieval } from "./test-retrieval.js";
import { ThreadView } from "./thread.js";
import { Threads } from "./threads.js";
import { Waiting } from "./waiting.js";

/** All views, by their names in the address; those with a tab in its order. */
export const views: Readonly<Record<string, View>> = {
  overview: { name: "Overview", show: Overview },
  threads: { name: "Conversations", show: Threads },
  thread: { name: "Conversation", needsWhose: true, tab: "threads", show: ThreadView },
  memories: { name: "Memories", show: Memories },
  memory: { name: "Memory", needsWhose: true, tab: "memories", show: MemoryDetail },
  waiting: { name: "Waiting", show: Waiting },
  costs: { name: "Cost", show: Costs },
  question: { name: "Test retrieval", needsWhose: true, show: TestRetrieval },
  changes: { name: "Changes", needsWhose: true, show: ChangesView },
  forgotten: { name: "Forgotten", operators: true, show: Forgotten },
  erase: { name: "Export & delete", needsWhose: true, show: ExportAndDelete },
};
