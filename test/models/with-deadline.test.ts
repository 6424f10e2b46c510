import { describe, expect, it } from "vitest";
import { withDeadline } from "../../src/models/model-answer.js";

describe("withDeadline", () => {
  it("withDeadline returns the call's result or error in time", async () => {
    await expect(withDeadline(1_000, async () => "in time")).resolves.toBe("in time");
    const failing = withDeadline(1_000, async () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
  });

  it("withDeadline aborts a late call and does not wait for it", async () => {
    let aborted = false;
    const late = withDeadline(20, (signal) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      return new Promise<never>(() => {});
    });
    await expect(late).rejects.toThrow(expect.objectContaining({ code: "MODEL_FAILED" }));
    expect(aborted).toBe(true);
  });

  it("withDeadline ignores a late failure", async () => {
    const late = withDeadline(
      20,
      (signal) =>
        new Promise<never>((_, reject) =>
          signal.addEventListener("abort", () => reject(new Error("late"))),
        ),
    );
    await expect(late).rejects.toThrow("did not answer within 20 ms");
  });
});
