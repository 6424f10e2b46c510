import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { categoryPolicy } from "./memories/item/category.rule.js";
import { type MemoryOptions, memoryOptionsSchema } from "./memory-options.js";
import { configSchema, type ResolvedConfig } from "./options.js";

/** What is said of a secret, a connection, a function or an object of yours. */
const given = "given";

/** A setting as it is in use. */
interface SettingInUse {
  readonly name: string;
  /** JSON; null: none. "given": a secret, a connection, a function or an object of yours. */
  readonly value: unknown;
  /** Its value where nothing else is set. */
  readonly default: unknown;
  readonly changed: boolean;
}

/** The settings of a memory, by group: the options of `createMemory` first. */
export interface SettingsInUse {
  readonly preset: ResolvedConfig["preset"];
  readonly groups: readonly {
    readonly name: string;
    readonly settings: readonly SettingInUse[];
  }[];
}

/** See `Memory.settings`. */
export function settingsInUse(options: MemoryOptions, config: ResolvedConfig): SettingsInUse {
  const { preset, policy, settings } = config;
  const groups = [{ name: "createMemory", settings: optionsInUse(options) }];
  const defaults: Values = configSchema.parse({});
  for (const [name, schema] of Object.entries(configSchema.shape)) {
    if (!(schema instanceof z.ZodPrefault)) continue;
    const [own, initial] = [(settings as Values)[name], defaults[name]] as [Values, Values];
    const show = name === "receipts" ? hidden : shown;
    groups.push({ name, settings: listed(Object.keys(schema.unwrap().shape), own, initial, show) });
  }
  const own = Object.fromEntries(policy.categories);
  const initial = Object.fromEntries(categoryPolicy(undefined, undefined).categories);
  groups.push({ name: "categories", settings: listed(Object.keys(own), own, initial) });
  const { allowlists = {} } = settings;
  groups.push({ name: "allowlists", settings: listed(Object.keys(allowlists), allowlists, {}) });
  return { preset, groups };
}

type Values = Readonly<Record<string, unknown>>;

const defaultOptions: Values = { schema: "mnemograph", jobs: "background" };

/** The options beside `config`. A word is shown, but not that of a connection. */
function optionsInUse(options: MemoryOptions): SettingInUse[] {
  const names = Object.keys(memoryOptionsSchema.shape).filter((name) => name !== "config");
  const values: Record<string, unknown> = { ...defaultOptions };
  for (const [name, value] of Object.entries(options)) {
    const isShown = typeof value === "string" && name !== "database";
    if (value !== undefined) values[name] = isShown ? value : given;
  }
  return listed(names, values, defaultOptions);
}

const hidden = (value: unknown): unknown => (value === undefined ? null : given);

/** `value` as JSON, without the source of a function. */
function shown(value: unknown): unknown {
  const text = JSON.stringify(value, (_, each) => (typeof each === "function" ? given : each));
  return text === undefined ? null : JSON.parse(text);
}

function listed(
  names: readonly string[],
  values: Values,
  defaults: Values,
  show = shown,
): SettingInUse[] {
  return names.map((name) => {
    const [value, initial] = [show(values[name]), show(defaults[name])];
    return { name, value, default: initial, changed: !isDeepStrictEqual(value, initial) };
  });
}
