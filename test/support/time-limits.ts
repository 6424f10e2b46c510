/**
 * How long what tests do may take, in milliseconds, by its kind.
 *
 * Limits end what hangs and prove nothing: each is many times what a quiet machine of two cores needs, so that a test
 * fails neither on a slow machine nor beside other work.
 */
export const limitsMs = {
  /** Something that a test waits for: less than a test may take, so that the failure says what did not come. */
  step: 90_000,
  /** A test, or a hook of a file. */
  test: 240_000,
  /** A test that takes seconds by design: thousands of runs, or an attack. */
  long: 1_200_000,
} as const;
