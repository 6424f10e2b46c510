import type { ComponentType } from "preact";
import type { Place } from "../place.js";
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

/** What a view is given. */
export interface ViewProps {
  readonly place: Place;
  /** Whether whoever looks is an operator; a user sees their own memory. */
  readonly isOperator: boolean;
}

/** A view of the page. */
interface View {
  readonly name: string;
  /** Whether somebody's memory has to be named first. */
  readonly needsWhose: boolean;
  /** The view whose tab it belongs to. @default it has one of its own */
  readonly tab?: string;
  readonly show: ComponentType<ViewProps>;
}

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
