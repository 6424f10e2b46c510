import { type Command, InvalidArgumentError } from "commander";

/** A command of the command line. What it needs of the library it loads when it runs, so that help comes at once. */
export interface CliCommand {
  readonly name: string;
  readonly description: string;
  /** Lines of the help: what to type after "mnemograph", and what it does. */
  readonly examples: readonly (readonly [line: string, does?: string])[];
  /** Adds arguments and flags. */
  flags(command: Command): Command;
  /** Given the arguments and then the flags. */
  run(...given: never[]): Promise<void>;
}

/** Flags that say which database. */
export interface DatabaseFlags {
  readonly database?: string;
  readonly dataDir?: string;
  readonly schema: string;
  readonly json?: true;
}

/** Flags of commands that use a memory; the first three say whose. */
export interface MemoryFlags extends DatabaseFlags {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly app?: string | undefined;
  readonly config?: string;
  readonly embeddings?: string;
  readonly model?: string;
}

/** `command` with the flags that say which database. */
export const withPlace = (command: Command): Command =>
  command
    .option("--database <url>", "connection string of a PostgreSQL server (default: DATABASE_URL)")
    .option("--data-dir <dir>", "folder of the embedded database (default without a server: .mnemograph)")
    .option("--schema <name>", "schema that holds the tables", "mnemograph");

/** `command` with `DatabaseFlags`. */
export const withDatabase = (command: Command): Command => withPlace(command).option("--json", "print JSON");

/** `command` with the flags of the application's settings. */
export const withSettings = (command: Command): Command =>
  command
    .option(
      "--embeddings <module>",
      "search by meaning too: file or package that exports LangChain embeddings as default or as `embeddings`",
    )
    .option("--config <file>", "YAML file with the application's settings, such as its categories");

/** `command` with the flags of a memory. */
export const withMemory = (command: Command): Command => withSettings(withDatabase(command));

/** `command` with the model of background work. */
export const withModel = (command: Command): Command =>
  command.option(
    "--model <module>",
    "file or package that exports a LangChain chat model as default or as `model`",
  );

/** `command` with the flags that say whose memory; `user` says what follows without them, where that is no error. */
export const withScope = (command: Command, user = "the user; this or --app is needed"): Command =>
  command.option("--user <id>", user).option("--app <id>", "the app").option("--tenant <id>", "the tenant");

/** Reads a flag's value as a whole number from 1 to `max`. */
export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}
