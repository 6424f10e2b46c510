import { conversationConstants } from "../../src/conversation/conversation-options.js";
import { insightConstants } from "../../src/insights/insights-options.js";
import type { MemoryConfig } from "../../src/options.js";
import { summaryConstants } from "../../src/summaries/summary-window.rule.js";

/** Constants of the code that tests change, in the groups of settings that they belong to. */
const constants = {
  summaries: summaryConstants,
  insights: insightConstants,
  conversation: conversationConstants,
};
type Constants = typeof constants;

/** A config that may change constants as if they were settings. */
export type TestConfig = Omit<MemoryConfig, keyof Constants> & {
  readonly [Group in keyof Constants]?:
    | (NonNullable<MemoryConfig[Group]> & Partial<Constants[Group]>)
    | undefined;
};

/** What `make` makes of the settings in `config`, with the constants that `config` has; then they are as before. */
export function withConstants<Made>(config: TestConfig, make: (config: MemoryConfig) => Made): Made {
  const undo: (() => void)[] = [];
  const settings: Record<string, unknown> = { ...config };
  for (const [group, values] of Object.entries(constants)) {
    const given = config[group as keyof Constants];
    if (given === undefined) continue;
    const own = Object.entries(given).filter(([name]) => name in values);
    const before = { ...values };
    Object.assign(values, Object.fromEntries(own));
    undo.push(() => Object.assign(values, before));
    settings[group] = Object.fromEntries(Object.entries(given).filter(([name]) => !(name in values)));
  }
  try {
    return make(settings);
  } finally {
    for (const each of undo) each();
  }
}
