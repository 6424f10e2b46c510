import { parseArgs } from "node:util";

/** The options of `bench:turn`, `bench:recall` and `bench:prompt`. */
export const { values: options } = parseArgs({
  options: {
    /** Only shows that the benchmark works: its figures mean nothing. */
    small: { type: "boolean", default: false },
    /** Compares the working tree with this commit: see against.ts. */
    against: { type: "string" },
    /** Of a comparison: prints one line of JSON and no table. */
    json: { type: "boolean", default: false },
    /** Measures a slice for each line of standard input: see slices.ts. */
    slices: { type: "boolean", default: false },
    /** `bench:prompt`: the preset that Mnemograph is given. */
    preset: { type: "string" },
    /** `bench:prompt`: prints Mnemograph's prompts of this turn. */
    show: { type: "string" },
  },
});
