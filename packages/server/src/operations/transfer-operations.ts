import { splitLines } from "mnemograph/contract";
import { z } from "zod";
import { anyObject, counts, each, flag, number, scope } from "./fields.js";
import { operation } from "./operation.js";
import { forgotten } from "./thread-operations.js";

export const transferOperations = {
  export: operation("get", "/export", "scope", {
    does: "What is kept, as lines of JSON; the last one says how many there were",
    lines: "out",
    input: {},
    answer: anyObject,
    call: ({ memory, target }) => memory.export(target) as AsyncIterable<Record<string, unknown>>,
  }),
  import: operation("post", "/import", "counted", {
    does: "Restore an export into an empty scope; an interrupted import is sent again",
    operators: true,
    lines: "in",
    input: {},
    answer: z.strictObject({
      scope,
      written: counts,
      ...each(number, "lines", "total", "quarantined"),
    }),
    call: ({ memory, target, stream, signal }) =>
      memory.import({ ...target, lines: splitLines(stream), signal }),
  }),
  forget: operation("post", "/forget", "scope", {
    does: "Delete everything for good, or with `dryRun` only count it; interrupted, the next call goes on",
    input: { dryRun: flag.optional() },
    answer: forgotten,
    call: ({ memory, target, actor, signal }, input) =>
      memory.forget({ ...input, ...target, actor, signal }),
  }),
};
