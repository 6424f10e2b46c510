import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readsAsInstruction } from "../../src/screening/reads-as-instruction.js";
import { redactSecrets } from "../../src/screening/redact-secrets.js";

// OWASP Agent Memory Guard (Apache-2.0), benchmarks/security_benchmark.py: not part of this package.
const path = process.env.AGENT_MEMORY_GUARD;
if (!path) {
  console.log("AGENT_MEMORY_GUARD names no security_benchmark.py: the set of OWASP is skipped.");
}

/** The texts of a category: Python joins strings that stand side by side. */
function textsOf(category: string): string[] {
  const source = path ? readFileSync(path, "utf8").replace(/"\s+"/g, "") : "";
  const cases = new RegExp(
    `TestCase\\("${category}",\\s*"[^"]*",\\s*"[^"]*",\\s*("(?:\\\\.|[^"\\\\])*"|'[^']*'),`,
    "g",
  );
  return [...source.matchAll(cases)].map(([, text = ""]) =>
    text.startsWith('"') ? JSON.parse(text) : text.slice(1, -1),
  );
}

const heldOf = (category: string) => textsOf(category).filter((text) => readsAsInstruction(text));

describe.skipIf(!path)("the set of OWASP Agent Memory Guard (needs AGENT_MEMORY_GUARD)", () => {
  it("Screening holds all 15 injections and at least 4 of 5 persistence markers", () => {
    expect(heldOf("prompt_injection")).toHaveLength(15);
    expect(heldOf("memory_persistence").length).toBeGreaterThanOrEqual(4);
  });

  it("Redaction changes at least 10 of 12 texts with secrets", () => {
    const secrets = textsOf("sensitive_data").filter((text) => redactSecrets(text) !== text);
    expect(secrets.length).toBeGreaterThanOrEqual(10);
  });

  it("Screening and redaction leave all 17 benign texts as they are", () => {
    const benign = textsOf("benign");
    expect(benign).toHaveLength(17);
    expect(heldOf("benign")).toEqual([]);
    expect(benign.map(redactSecrets)).toEqual(benign);
  });
});
