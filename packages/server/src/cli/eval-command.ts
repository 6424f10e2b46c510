import type { EvalFlags } from "./evaluate.js";
import { type CliCommand, withModel, withSettings } from "./flags.js";

export const evalCommand: CliCommand = {
  name: "eval",
  description:
    "test an agent's memory: play the cases of a YAML file on a database in memory, and compare what is found, shown and believed",
  examples: [
    ["eval cases.yaml", "ends with 1 if an expectation fails"],
    ["eval cases.yaml --model ./model.js --record answers.json", "asks your model once"],
    ["eval cases.yaml --answers answers.json", "then no model and no network, as in CI"],
  ],
  flags: (command) =>
    withModel(withSettings(command))
      .argument("<file>", "the cases; see docs/testing-memory.md")
      .option("--answers <file>", "answers that --record wrote, instead of a model")
      .option("--record <file>", "write the answers of --model there")
      .option("--case <name>", "only this case")
      .option("--json", "print JSON"),
  run: async (file: string, flags: EvalFlags) =>
    (await import("./evaluate.js")).evaluate(file, flags),
};
