import fc from "fast-check";

/** Asserts that `check` holds for generated values of the arbitraries before it. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  ...given: [
    ...arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
    check: (...values: Values) => void,
  ]
): void {
  fc.assert(fc.property<Values>(...given));
}
