import { z } from "zod";
import { nonBlank } from "../input/parse-input.js";
import { checks, column, type RowOf } from "../postgres/columns.js";
import { type RecordName, records } from "./records.js";

export const exportVersion = 1;

const id = nonBlank.optional();
const header = z.strictObject({
  type: z.literal("header"),
  format: z.literal("mnemograph"),
  version: z.literal(exportVersion),
  exportedAt: column.time("").json as z.ZodType<string>,
  scope: z.strictObject({ tenantId: id, userId: id, appId: id }),
});

/** The last line, with the count of the lines before it. A cut-off export has none. */
const end = z.strictObject({ type: z.literal("end"), lines: z.int().min(0) });

type RecordLine = {
  [Name in RecordName]: { readonly type: Name } & RowOf<(typeof records)[Name]["fields"]>;
}[RecordName];

/** One line of an export. */
export type ExportLine = z.output<typeof header> | RecordLine | z.output<typeof end>;

export type ExportLineOf<Type extends ExportLine["type"]> = Extract<ExportLine, { type: Type }>;

export const exportLineSchema = z.discriminatedUnion("type", [
  header,
  end,
  ...Object.entries(records).map(([name, { fields }]) =>
    z.strictObject({ type: z.literal(name), ...checks(fields) }),
  ),
]) as unknown as z.ZodType<ExportLine>;
