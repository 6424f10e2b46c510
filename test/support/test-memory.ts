import { type ChangedConstants, constants, type MemoryConfig } from "../../src/config.js";
import { createMemoryWith } from "../../src/create-memory.js";
import type { MemoryOptions } from "../../src/create-memory-options.js";
import type { Memory } from "../../src/memory.js";

/** Settings, and values that replace the package's constants, such as leases of a millisecond. */
export type TestConfig = {
  readonly [Group in keyof MemoryConfig]: Group extends keyof ChangedConstants
    ? (NonNullable<MemoryConfig[Group]> & ChangedConstants[Group]) | undefined
    : MemoryConfig[Group];
} & Omit<ChangedConstants, keyof MemoryConfig>;

export type TestOptions = Omit<MemoryOptions, "config"> & {
  readonly config?: TestConfig | string | undefined;
};

/** `createMemory` for tests that change constants, which users cannot. */
export function createTestMemory({ config, ...options }: TestOptions): Memory {
  if (config === undefined || typeof config === "string") {
    return createMemoryWith({ ...options, ...(config !== undefined && { config }) }, {});
  }
  const settings: Record<string, unknown> = {};
  const changed: Record<string, unknown> = {};
  for (const [group, values] of Object.entries(config)) {
    const known = Object.hasOwn(constants, group) ? constants[group as keyof typeof constants] : {};
    const isConstant = ([key]: [string, unknown]) => Object.hasOwn(known, key);
    if (!isGroup(values)) settings[group] = values;
    else {
      const entries = Object.entries(values);
      const own = entries.filter((entry) => !isConstant(entry));
      if (own.length > 0 || !Object.hasOwn(constants, group))
        settings[group] = Object.fromEntries(own);
      changed[group] = Object.fromEntries(entries.filter(isConstant));
    }
  }
  return createMemoryWith({ ...options, config: settings }, changed);
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
