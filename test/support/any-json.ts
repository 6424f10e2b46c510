import fc from "fast-check";

/** JSON of `leaf`s, arrays and records; a record is an object with some of `key`. */
export const anyJson = (key: fc.Arbitrary<string>, leaf: fc.Arbitrary<unknown>) =>
  fc.letrec<{ json: unknown; record: Record<string, unknown> }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf,
      fc.array(tie("json"), { maxLength: 3 }),
      tie("record"),
    ),
    record: fc
      .array(fc.tuple(key, tie("json")), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  }));
