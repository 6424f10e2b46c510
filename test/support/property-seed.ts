import fc from "fast-check";

// Each run of a property has a new seed. A failure prints it; `PROPERTY_SEED` repeats it.
const { PROPERTY_SEED } = process.env;
if (PROPERTY_SEED) fc.configureGlobal({ seed: Number(PROPERTY_SEED) });
