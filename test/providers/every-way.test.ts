import { conversationsOf, everyCase } from "./every-way.js";

// The rest is in the long suite: `npm run test:providers`.
conversationsOf(
  everyCase.filter(
    ({ name, way, preset }) => preset === "ledger" && (name === "anthropic" || way === "AI SDK"),
  ),
);
