import fc from "fast-check";

// A run that decides whether a change goes in asks the same twice: what properties find there, they find again. At a
// developer's they ask something else each time. `PROPERTY_SEED` chooses.
const { CI, PROPERTY_SEED } = process.env;
if (CI || PROPERTY_SEED) fc.configureGlobal({ seed: Number(PROPERTY_SEED ?? 1) });
