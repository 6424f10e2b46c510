import type { Cell, Cells } from "./cell.js";
import { sums } from "./cells/join-counts.rule.js";
import { MemoryError } from "./errors.js";
import type { JobKind } from "./jobs/job-kinds.rule.js";
import type { JobWorker, WorkInput } from "./jobs/queue-work.js";
import type { WorkerStatus } from "./jobs/worker-status.js";
import { errorLine } from "./logger.js";
import type { Memory } from "./memory.js";

/** How often cells are looked at that were being moved, in milliseconds. */
const lookAgainMs = 15_000;

/** The worker of a cell, and the memory that it works for: where the cell is elsewhere by now, another begins there. */
interface CellWorker {
  readonly memory: Memory;
  readonly worker: JobWorker;
}

/** The workers of all cells as one. A cell that is being moved gets its worker when it is there again. */
export async function joinWorks(cells: Cells, { signal, ...input }: WorkInput = {}): Promise<JobWorker> {
  const working = new Map<number, CellWorker>();
  const ended: WorkerStatus[] = [];
  let stopped = false;
  const begin = async (cell: Cell) => {
    const known = working.get(cell.cell);
    if (stopped || (known && known.memory === cell.known()?.memory)) return;
    if (known) {
      working.delete(cell.cell);
      ended.push({ ...known.worker.status(), running: 0 });
    }
    try {
      await cell.run(async (memory) => {
        working.set(cell.cell, { memory, worker: await memory.work(input) });
      });
    } catch (error) {
      if (!MemoryError.is(error, "CELL_MOVING")) throw error;
      cells.logger.warn(`no work is done in cell ${cell.cell} while it is moved`);
    }
  };
  const stop = async () => {
    stopped = true;
    clearInterval(looking);
    await Promise.all([...working.values()].map(({ worker }) => worker.stop()));
  };
  const look = async () => {
    for (const cell of cells.all) {
      await begin(cell).catch((error: unknown) =>
        cells.logger.error(`no work is done in cell ${cell.cell}: ${errorLine(error)}`),
      );
    }
  };
  const looking = setInterval(() => void look(), lookAgainMs).unref();
  try {
    for (const cell of cells.all) await begin(cell);
  } catch (error) {
    await stop();
    throw error;
  }
  if (signal?.aborted) await stop();
  else signal?.addEventListener("abort", () => void stop(), { once: true });
  const statuses = () => [...ended, ...[...working.values()].map(({ worker }) => worker.status())];
  return { status: () => joinWorkers(statuses(), ended.length), stop };
}

/** @param gone how many of the first have ended, which need not be ready. */
function joinWorkers(statuses: readonly WorkerStatus[], gone: number): WorkerStatus {
  const kinds: Partial<Record<JobKind, { done: number; failed: number; running: number }>> = {};
  for (const [kind, counts] of statuses.flatMap((status) => Object.entries(status.kinds))) {
    kinds[kind as JobKind] = sums([kinds[kind as JobKind] ?? {}, counts]);
  }
  return {
    ready: statuses.slice(gone).every(({ ready }) => ready),
    ...sums(statuses.map(({ done, failed, running }) => ({ done, failed, running }))),
    kinds,
  };
}
