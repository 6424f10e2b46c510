import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import { WrongUse } from "./output.js";

/** Commands load the library when they run, so that help is fast. */
export interface CliCommand {
  readonly name: string;
  readonly description: string;
  readonly examples: readonly (readonly [line: string, does?: string])[];
  flags(command: Command): Command;
  run(...given: never[]): Promise<void>;
}

export interface DatabaseFlags {
  readonly database?: string;
  readonly dataDir?: string;
  readonly schema: string;
  readonly json?: true;
}

export interface MemoryFlags extends DatabaseFlags {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly app?: string | undefined;
  readonly config?: string;
  readonly embeddings?: string;
  readonly model?: string;
}

export const withPlace = (command: Command): Command =>
  command
    .option("--database <url>", "connection string of a PostgreSQL server (default: DATABASE_URL)")
    .option(
      "--data-dir <dir>",
      "folder of the embedded database (default without a server: .mnemograph)",
    )
    .option("--schema <name>", "schema that holds the tables", "mnemograph");

export const withDatabase = (command: Command): Command =>
  withPlace(command).option("--json", "print JSON");

export const withSettings = (command: Command): Command =>
  command
    .option(
      "--embeddings <module>",
      "search by meaning too: `local`, or a file or package that exports LangChain embeddings as default or as `embeddings`",
    )
    .option("--config <file>", "YAML file with the application's settings, such as its categories");

export const withMemoryFlags = (command: Command): Command => withSettings(withDatabase(command));

export const withModel = (command: Command): Command =>
  command.option(
    "--model <module>",
    "file or package that exports a LangChain chat model as default or as `model`",
  );

/** `user` describes the flag where it is optional. */
export const withScope = (command: Command, user = "the user; this or --app is needed"): Command =>
  command
    .option("--user <id>", user)
    .option("--app <id>", "the app")
    .option("--tenant <id>", "the tenant");

export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}

/** Of a file that an argument names. */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

export const unreadable = (file: string, cause: unknown): WrongUse =>
  new WrongUse(`${file} cannot be read: ${(cause as Error).message}`, { cause });
