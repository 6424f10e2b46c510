import type { Check } from "./check.js";
import type { DoctorFlags } from "./diagnose.js";
import { type CliCommand, withDatabase, withModel, withSettings } from "./flags.js";
import { aligned, counted, print } from "./output.js";

export const doctorCommand: CliCommand = {
  name: "doctor",
  description:
    "what stops memory? checks database, tables, vectors and background work, and says what to do; changes nothing",
  examples: [
    ["doctor", "ends with 1 if anything is bad; warnings leave 0"],
    ["doctor --vectors --json", "also bad where embeddings cannot be kept"],
    ["doctor --ask --model ./model.js", "also bad where the model does not answer"],
  ],
  flags: (command) =>
    withModel(withSettings(withDatabase(command)))
      .option("--vectors", "also ask for what embeddings need")
      .option("--ask", "also ask --model and --embeddings one small question each"),
  async run(flags: DoctorFlags) {
    const { diagnose } = await import("./diagnose.js");
    const { place, checks } = await diagnose(flags);
    const count = (verdict: Check["verdict"]) =>
      checks.filter((check) => check.verdict === verdict).length;
    const summary = { ok: count("ok"), warn: count("warn"), bad: count("bad") };
    print(flags, { database: place, schema: flags.schema, summary, checks }, () => {
      const rows = checks.map(({ check, verdict, says, todo }) => [
        verdict,
        check,
        todo === null ? says : `${says} ${todo}`,
      ]);
      const total = `${summary.bad} bad, ${counted(summary.warn, "warning")}, ${summary.ok} ok.`;
      return [...aligned(rows), total].join("\n");
    });
    if (summary.bad > 0) process.exitCode = 1;
  },
};
