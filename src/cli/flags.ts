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

/** Flags that every command understands. */
export interface DatabaseFlags {
  readonly database?: string;
  readonly dataDir?: string;
  readonly schema: string;
  readonly json?: true;
}

/** Flags of commands that use a memory; the first three say whose. */
export interface MemoryFlags extends DatabaseFlags {
  readonly tenant?: string | undefined;
  readonly user?: string;
  readonly app?: string;
  readonly config?: string;
  readonly embeddings?: string;
  readonly model?: string;
}

/** Flags of lists. */
export interface PageFlags {
  readonly limit?: number;
  readonly after?: string;
}

/** `PageFlags` of a list whose pages begin after a `what`. */
export function pageFlags(what: string): readonly FlagLine[] {
  return [
    ["--limit <count>", "list at most this many (default: 1000)", wholeNumber(1_000)],
    ["--after <id>", `the next page: after this ${what}`],
  ];
}

/** A flag, what it does, and how its value is read. */
export type FlagLine = readonly [flags: string, description: string, read?: (text: string) => unknown];

/** Flags of commands that decide about something. */
export interface DecisionFlags extends MemoryFlags {
  readonly actor?: string;
  readonly ifRevision?: number;
}

/** `command` with `DatabaseFlags`. */
export function withDatabase(command: Command): Command {
  return command
    .option("--database <url>", "connection string of a PostgreSQL server (default: DATABASE_URL)")
    .option("--data-dir <dir>", "folder of the embedded database (default without a server: .mnemograph)")
    .option("--schema <name>", "schema that holds the tables", "mnemograph")
    .option("--json", "print JSON");
}

/** `command` with the flags of a memory; `embeddings` says what embeddings are good for. */
export function withMemory(command: Command, embeddings: string): Command {
  return withDatabase(command)
    .option("--embeddings <module>", embeddings)
    .option("--config <file>", "YAML file with the application's settings, such as its categories");
}

/** `command` with the flags that say whose memory; `user` says what follows without them, where that is no error. */
export function withScope(command: Command, user = "the user; this or --app is needed"): Command {
  return command
    .option("--user <id>", user)
    .option("--app <id>", "the app")
    .option("--tenant <id>", "the tenant");
}

/** What flags that all decisions have are for in one command. */
export interface DecisionTexts {
  readonly user?: string;
  readonly embeddings: string;
  readonly actor: string;
}

/** Those of a command that lists what waits, of everybody, and decides one. */
export const decidingOne: DecisionTexts = {
  user: "the user; to decide, this or --app is needed (default: everybody)",
  embeddings: "give what is approved a vector, with the embeddings a file or package exports",
  actor: "who decides, for the audit trail (default: cli)",
};

/** `command` with the flags of a memory and a scope, of `decisions`, and of every decision. */
export function withDecisions(
  command: Command,
  { user, embeddings, actor }: DecisionTexts,
  decisions: readonly FlagLine[],
): Command {
  withMemory(withScope(command, user), embeddings);
  for (const [flags, description, read] of decisions) {
    if (read) command.option(flags, description, read);
    else command.option(flags, description);
  }
  const revision = "only when it still has this revision, as --json shows it";
  return command.option("--if-revision <number>", revision, wholeNumber(1e9)).option("--actor <name>", actor);
}

/** Reads a flag's value as one of `words`. */
export function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((each) => each === text);
    if (word !== undefined) return word;
    throw new InvalidArgumentError(`It must be one of ${words.join(", ")}.`);
  };
}

/** Reads a flag's value as a whole number from 1 to `max`. */
export function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}
