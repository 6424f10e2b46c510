import type { View } from "../view.js";
import { Charts } from "./charts.js";
import { EraseAndMove } from "./erase-and-move.js";
import { Live } from "./live.js";
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
  charts: { name: "Charts", needsWhose: false, show: Charts },
  live: { name: "Live changes", needsWhose: true, show: Live },
  erase: { name: "Erase & move", needsWhose: true, show: EraseAndMove },
};
