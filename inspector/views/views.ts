import type { View } from "../view.js";
import { ChangesView } from "./changes.js";
import { ExportAndErase } from "./export-and-erase.js";
import { Memories } from "./memories.js";
import { MemoryDetail } from "./memory-detail.js";
import { Summaries } from "./summaries.js";
import { ThreadView } from "./thread.js";
import { Threads } from "./threads.js";
import { TryAQuestion } from "./try-a-question.js";
import { Waiting } from "./waiting.js";

/** All views, by their names in the address; those with a tab in its order. */
export const views: Readonly<Record<string, View>> = {
  threads: { name: "Threads", needsWhose: false, show: Threads },
  thread: { name: "Thread", needsWhose: true, tab: "threads", show: ThreadView },
  summaries: { name: "Summaries", needsWhose: true, tab: "threads", show: Summaries },
  question: { name: "Try a question", needsWhose: true, show: TryAQuestion },
  memories: { name: "Memories", needsWhose: true, show: Memories },
  memory: { name: "Memory", needsWhose: true, tab: "memories", show: MemoryDetail },
  waiting: { name: "Waiting", needsWhose: false, show: Waiting },
  changes: { name: "Changes", needsWhose: true, show: ChangesView },
  erase: { name: "Export & erase", needsWhose: true, show: ExportAndErase },
};
