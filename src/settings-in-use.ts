import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { configSchema } from "./config.js";
import type { MemoryOptions } from "./create-memory-options.js";

/** A setting as it is in use. */
export interface SettingInUse {
  /** Of the config, or "createMemory" for its other options. */
  readonly group: string;
  readonly name: string;
  /** JSON; null: none. "given": a secret, a connection, a function or an object of yours. */
  readonly value: unknown;
  /** Its value where nothing else is set. */
  readonly default: unknown;
  readonly changed: boolean;
}

type Values = Readonly<Record<string, unknown>>;

const given = "given";
const defaultOptions: Values = { schema: "mnemograph", jobs: "background" };

/** See `Memory.settings`. */
export function settingsInUse(options: MemoryOptions, config: Values): SettingInUse[] {
  const settings: SettingInUse[] = [];
  const add = (group: string, name: string, value: unknown, initial: unknown = null) =>
    settings.push({
      group,
      name,
      value,
      default: initial,
      changed: !isDeepStrictEqual(value, initial),
    });

  // A word chooses one of some ways, such as "inline"; that of a connection is secret.
  for (const [name, own] of Object.entries(options)) {
    const isWord = typeof own === "string" && name !== "database";
    add("createMemory", name, own && !isWord ? given : own, defaultOptions[name]);
  }
  const defaults: Values = configSchema.parse({});
  const { preset: _, ...groups } = configSchema.shape;
  add("preset", "preset", config.preset, defaults.preset);
  for (const [group, schema] of Object.entries(groups)) {
    const [own = {}, initial = {}] = [config, defaults].map((each) => each[group] as Values);
    // Also those that are not set and have no default.
    const names = schema instanceof z.ZodPrefault ? schema.unwrap().shape : own;
    for (const name of Object.keys(names)) {
      const value = withoutCode(own[name] ?? null);
      add(group, name, value && group === "receipts" ? given : value, initial[name]);
    }
  }
  return settings;
}

/** `value` as JSON, with none of its functions. */
function withoutCode(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each) => (typeof each === "function" ? given : each));
  return JSON.parse(text);
}
