import type { AppCounts, AppsStats } from "../events/stats-by-app.js";
import type { StatsByDay } from "../events/stats-by-day.js";
import { type CliCommand, type MemoryFlags, oneOf, wholeNumber, withDatabase, withScope } from "./flags.js";
import { aligned, print, whoseIs } from "./output.js";
import { useListed } from "./use-memory.js";

/** `mnemograph stats`: how memory has worked over the last 30 days, or how apps have remembered. */
export const statsCommand: CliCommand = {
  name: "stats",
  description: "show how memory has worked over the last 30 days, or how apps remember their conversations",
  examples: [
    ["stats --json", "for everybody; --user or --app for one"],
    ["stats --by app", "notes, compactions and energy of each app"],
    ["stats --by day --days 7", "turns, recalls, writes and energy of a week"],
  ],
  flags: (command) =>
    withDatabase(withScope(command, "only this user (default: everybody)"))
      .option(
        "--by <what>",
        '"app": how apps remember their conversations; "day": how it went day by day',
        oneOf(["app", "day"]),
      )
      .option("--days <count>", "the last so many days (default: 30)", wholeNumber(366)),
  run: stats,
};

interface StatsFlags extends MemoryFlags {
  readonly by?: "app" | "day";
  readonly days?: number;
}

/** @throws MemoryError as `memory.stats` does. */
async function stats(flags: StatsFlags): Promise<void> {
  const { by, days } = flags;
  if (by === "day") {
    const found = await useListed(flags, (memory, whose) => memory.stats({ ...whose, by, days }));
    return print(flags, found, () => dayByDay(found));
  }
  if (by === "app") {
    const found = await useListed(flags, (memory, whose) => memory.stats({ ...whose, by, days }));
    return print(flags, found, () => describe(found));
  }
  const found = await useListed(flags, (memory, whose) => memory.stats({ ...whose, days }));
  print(flags, found, () =>
    aligned([
      ["First pass rate", share(found.firstPassRate), "of what models proposed; healthy from 95 %"],
      ["Written", found.written, "proposals that became, changed or confirmed a memory"],
      ["Rejected", found.rejected, "proposals that were not written"],
      ["Given up", found.deadLetters, "pieces of background work"],
      ["Turns with the tool", share(found.recallToolShare), "searched by an agent; healthy below 10 %"],
      ["Energy", `${Math.floor(found.energy.level)} %`, "left of the budget for background calls of models"],
    ]).join("\n"),
  );
}

function dayByDay({ days }: StatsByDay): string {
  const names = ["", "turns", "with memory", "recall p50", "p95", "memories", "written", "rejected", "units"];
  const sum = (counts: Readonly<Record<string, number | undefined>>) =>
    Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0);
  const rows = days.map(({ day, recalls, recallsWithMemory, recallLatencyMs: took, ...of }) => {
    const { rejected = 0, ...written } = of.writesByOutcome;
    const ms = (value: number | undefined) => (value === undefined ? "-" : `${value.toFixed(1)} ms`);
    return [
      ...[day, recalls, recallsWithMemory, ms(took?.p50), ms(took?.p95), sum(of.memoriesByKind)],
      ...[sum(written), rejected, Math.round(of.energyUnits)],
    ];
  });
  return aligned([names, ...rows]).join("\n");
}

function describe({ since, appsWithNotesShare, apps, ...all }: AppsStats): string {
  const rows = apps.map((app) => [whoseIs(app.scope), ...row(app)]);
  const names = ["", "notes", "new", "an hour", "compacted", "a day", "shown in", "units", "of all"];
  return [
    ...aligned([names, ...rows, ["all apps", ...row(all)]]),
    `${share(appsWithNotesShare)} of ${all.appCount} apps have notes. All but the first column of numbers since ${since.toISOString()}.`,
  ].join("\n");
}

function row(counts: AppCounts): (string | number)[] {
  return [
    ...[counts.notes, counts.notesCreated, counts.notesCreatedPerHour.toFixed(2)],
    ...[counts.compactions, counts.compactionsPerDay.toFixed(2), share(counts.conversationsWithNotesShare)],
    ...[Math.round(counts.notesEnergyUnits), Math.round(counts.energyUnits)],
  ];
}

function share(value: number | null): string {
  return value === null ? "-" : `${(value * 100).toFixed(1)} %`;
}
