import { once } from "node:events";
import { createServer } from "node:http";
import type { WorkKind } from "mnemograph/contract";
import {
  type CliCommand,
  type MemoryFlags,
  wholeNumber,
  withMemoryFlags,
  withModel,
} from "./flags.js";
import { stopSignal } from "./use-memory.js";

type WorkerFlags = MemoryFlags & {
  kind?: WorkKind[];
  queueSchema: string;
  host: string;
  port?: number;
};

export const workerCommand: CliCommand = {
  name: "worker",
  description:
    "do background work for all processes on this database, until a signal ends it; needs pg-boss (on Citus see docs/workers.md)",
  examples: [["worker --model ./model.js --port 8788", "on as many machines as there is work for"]],
  flags: (command) =>
    withModel(withMemoryFlags(command))
      .option(
        "--kind <kinds...>",
        "only work of these kinds, such as facts or summaries (default: all)",
      )
      .option("--queue-schema <name>", "schema of pg-boss's tables", "pgboss")
      .option("--port <number>", "answer /healthz and /readyz at this port", wholeNumber(65_535))
      .option(
        "--host <address>",
        "where --port listens; probes come from other machines",
        "0.0.0.0",
      ),
  run: work,
};

const reportEveryMs = 30_000;

async function work(flags: WorkerFlags): Promise<void> {
  const { openMemory } = await import("./open-memory.js");
  const { kind: kinds, queueSchema, host, port, json } = flags;
  const memory = await openMemory(flags, { pgBoss: { schema: queueSchema } });
  const stopped = stopSignal();
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  let lastReport = "";
  // `/healthz`: the process answers. `/readyz`: it takes jobs, and the database answers.
  const server = createServer((request, response) => {
    const status = worker?.status();
    const ready = Boolean(status?.ready) && !isStopping && memory.databaseStatus().state === "up";
    const codes: Readonly<Record<string, number>> = {
      "/healthz": 200,
      "/readyz": ready ? 200 : 503,
    };
    const code = codes[(request.url ?? "").split("?")[0] ?? ""] ?? 404;
    response.writeHead(code, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(code === 404 ? {} : { ...status, ready }));
  });
  let worker: Awaited<ReturnType<typeof memory.work>> | undefined;
  const report = () => {
    const { done = 0, failed = 0, running = 0 } = worker?.status() ?? {};
    const text = `jobs: ${done} done, ${failed} failed, ${running} running`;
    if (!json && text !== lastReport) process.stderr.write(`${text}\n`);
    lastReport = text;
  };
  try {
    worker = await memory.work({ kinds });
    if (port !== undefined) await once(server.listen(port, host), "listening");
    process.stderr.write("At work.\n");
    timer = setInterval(report, reportEveryMs);
    await stopped;
    isStopping = true;
    await worker.stop();
    report();
  } finally {
    clearInterval(timer);
    server.close();
    server.closeAllConnections();
    await memory.close();
  }
}
