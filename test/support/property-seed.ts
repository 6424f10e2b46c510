import fc from "fast-check";

// Properties ask something else in each run. A failure prints its seed: `PROPERTY_SEED` asks the same again.
const { PROPERTY_SEED } = process.env;
if (PROPERTY_SEED) fc.configureGlobal({ seed: Number(PROPERTY_SEED) });
