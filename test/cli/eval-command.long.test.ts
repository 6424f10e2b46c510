import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useCommandLine } from "../support/command-line.js";
import { compiled } from "../support/compiled.js";
import { repository } from "../support/doc-pages.js";
import { useTestDatabase } from "../support/test-database.js";

const cli = useCommandLine(useTestDatabase());
const model = compiled("examples/demo/offline-model");

const save = (name: string, text: string) => {
  writeFileSync(join(cli.folder, name), text);
  return name;
};
const evaluate = (...args: string[]) => cli.runOn(["eval", ...args]);

/** The cases on the page, each with what it says that they print. */
const page = readFileSync(join(repository, "docs/testing-memory.md"), "utf8");
const block = /^```yaml cases\n([\s\S]*?)^```\n[\s\S]*?^```text output\n([\s\S]*?)^```$/gm;
const examples = [...page.matchAll(block)].map(([, yaml = "", output = ""]) => ({ yaml, output }));

const allergy = `cases:
  - name: an allergy
    threads: [{ messages: [{ user: I am allergic to peanuts. }] }]
    question: What shall I cook?
    expect: { believed: peanuts, notBelieved: walnuts }
`;

describe("`mnemograph eval`", () => {
  it.each(examples)("Cases of the page print what it says: $output", async ({ yaml, output }) => {
    const { code, out, err } = await evaluate(save("cases.yaml", yaml), "--model", model);
    expect({ out: `${out}\n`, err }).toEqual({ out: output, err: "" });
    expect(code).toBe(/^failed/m.test(output) ? 1 : 0);
  });

  it("The demo's promises hold, without a model", async () => {
    const folder = join(repository, "examples/demo");
    const files = ["promises.yaml", "promises.answers.json", "memory.yaml"];
    for (const file of files) copyFileSync(join(folder, file), join(cli.folder, file));
    const args = ["promises.yaml", "--answers", "promises.answers.json", "--json"];
    const { code, out } = await evaluate(...args);
    const { cases, summary } = JSON.parse(out);
    expect(cases.filter(({ error }: { error: string | null }) => error !== null)).toEqual([]);
    expect(summary).toEqual({ cases: 5, expectations: 15, failed: 0, errors: 0 });
    expect(code).toBe(0);
  });

  it("A model's answers are recorded and played again, and the table says when they are too few", async () => {
    const file = save("allergy.yaml", allergy);
    const recorded = await evaluate(file, "--model", model, "--record", "answers.json");
    expect(recorded).toMatchObject({ code: 0 });
    const answers = JSON.parse(readFileSync(join(cli.folder, "answers.json"), "utf8"));
    expect(Object.keys(answers["an allergy"])).toEqual(["fact_extraction"]);
    expect(await evaluate(file, "--answers", "answers.json")).toEqual(recorded);
    save("none.json", JSON.stringify({ "an allergy": {} }));
    const few = await evaluate(file, "--answers", "none.json");
    expect(few.code).toBe(1);
    expect(few.out).toContain("there are too few answers of fact_extraction. Record them again");
    const untaught = await evaluate(file);
    expect(untaught).toMatchObject({ code: 1, err: expect.stringContaining("No model") });
  });

  it("A case that was not recorded fails, and a recording of one case keeps the others", async () => {
    const town = allergy
      .replace("an allergy", "a town")
      .replace("I am allergic to peanuts", "I live in Porto")
      .replace("cook?", "see?")
      .replace("believed: peanuts, notBelieved: walnuts", "notBelieved: walnuts");
    const file = save("two.yaml", allergy + town.replace("cases:\n", ""));
    await evaluate(file, "--model", model, "--record", "two.json", "--case", "an allergy");
    const unrecorded = await evaluate(file, "--answers", "two.json");
    expect(unrecorded).toMatchObject({ code: 1, err: "" });
    expect(unrecorded.out).toMatch(/^error\s+a town .*too few answers of fact_extraction/m);
    expect(unrecorded.out).toContain("1 could not be played");
    await evaluate(file, "--model", model, "--record", "two.json", "--case", "a town");
    expect(await evaluate(file, "--answers", "two.json")).toMatchObject({ code: 0, err: "" });
    const unwritable = await evaluate(file, "--model", model, "--record", "none/two.json");
    expect(unwritable).toMatchObject({ code: 2, out: "" });
    expect(unwritable.err).toContain("none/two.json cannot be written");
  });

  it("The command ends with 2 for what it cannot use, with each line and what to do", async () => {
    const wrong = save("wrong.yaml", `${allergy}    agents: cook\n    at: noon\n`);
    expect(await evaluate(wrong)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(
        /^mnemograph: wrong.yaml:6: .*"agents".*did you mean "agent"\?.*\nmnemograph: wrong.yaml:7: .*must be a day/m,
      ),
    });
    expect(await evaluate("missing.yaml")).toMatchObject({ code: 2 });
    const file = save("allergy.yaml", allergy);
    expect(await evaluate(file, "--record", "a.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("name it with --model"),
    });
    expect(await evaluate(file, "--case", "a diet")).toMatchObject({
      code: 2,
      err: expect.stringContaining('"an allergy"'),
    });
    const settings = save("config.yaml", `${allergy}    config: { retrieval: { topk: 3 } }\n`);
    expect(await evaluate(settings, "--model", model)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(/^mnemograph: config.yaml:2: .*did you mean "topK"/),
    });
    save("settings.yaml", "retrieval: { topk: 3 }");
    expect(await evaluate(file, "--config", "settings.yaml")).toMatchObject({
      code: 2,
      err: expect.stringContaining('did you mean "topK"'),
    });
  });
});
