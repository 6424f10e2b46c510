import { expect, it } from "vitest";
import { useChildScripts } from "../../support/child-scripts.js";

const start = useChildScripts();

it("Spans are not recorded where OpenTelemetry is not installed", async () => {
  const script = start("without-telemetry");
  expect(await script.exitCode).toBe(0);
  expect(script.lines.slice(0, 3)).toEqual(["missing", "recording: false", "error: its own"]);
  expect(Number(script.lines[3]?.split(": ")[1])).toBeLessThan(100);
  expect(script.stderr()).toBe("");
});
