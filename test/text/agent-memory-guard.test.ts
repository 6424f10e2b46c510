import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readsAsInstruction } from "../../src/text/reads-as-instruction.js";
import { redactSecrets } from "../../src/text/redact-secrets.js";

// OWASP Agent Memory Guard (Apache-2.0), benchmarks/security_benchmark.py: not part of this package.
const path = process.env.AGENT_MEMORY_GUARD;
if (!path) {
  console.log("AGENT_MEMORY_GUARD names no security_benchmark.py: the set of OWASP is skipped.");
}

/** The texts of a category: Python joins strings that stand side by side. */
function textsOf(category: string): string[] {
  const source = readFileSync(path ?? "", "utf8");
  const cases =
    /TestCase\("(\w+)",\s*"[^"]*",\s*"[^"]*",\s*((?:"(?:\\.|[^"\\])*"\s*|'[^']*'\s*)+),/g;
  return [...source.matchAll(cases)].flatMap(([, name, strings = ""]) => {
    if (name !== category) return [];
    const parts = [...strings.matchAll(/("(?:\\.|[^"\\])*")|'([^']*)'/g)];
    return [parts.map(([, double, single]) => (double ? JSON.parse(double) : single)).join("")];
  });
}

const heldOf = (category: string) => textsOf(category).filter((text) => readsAsInstruction(text));

describe.skipIf(!path)("the set of OWASP Agent Memory Guard (needs AGENT_MEMORY_GUARD)", () => {
  it("Screening holds all 15 injections and at least 4 of 5 persistence markers", () => {
    expect(textsOf("prompt_injection")).toHaveLength(15);
    expect(heldOf("prompt_injection")).toEqual(textsOf("prompt_injection"));
    expect(heldOf("memory_persistence").length).toBeGreaterThanOrEqual(4);
  });

  it("Redaction changes at least 10 of 12 texts with secrets", () => {
    const secrets = textsOf("sensitive_data");
    expect(secrets).toHaveLength(12);
    const changed = secrets.filter((text) => redactSecrets(text) !== text);
    expect(changed.length).toBeGreaterThanOrEqual(10);
  });

  it("Screening and redaction leave all 17 benign texts as they are", () => {
    expect(textsOf("benign")).toHaveLength(17);
    expect(heldOf("benign")).toEqual([]);
    expect(textsOf("benign").map(redactSecrets)).toEqual(textsOf("benign"));
  });
});
