import { join } from "node:path";
import ts from "typescript";

export const root = join(import.meta.dirname, "../..");

/** The options of the repository's own type check. */
export const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);
