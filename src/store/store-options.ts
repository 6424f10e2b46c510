import { z } from "zod";
import { storableText } from "../text/parse-input.js";

/** Ten years: longer is kept for good. */
const mostMinutes = 5_256_000;

/** Minutes that an item is kept for. */
export const ttlMinutes = z.number().positive().max(mostMinutes);

/** Which fields of a value are searched. */
export const indexFields = z.array(storableText.min(1).max(1_000)).max(100);

export const storeOptionsSchema = z.strictObject({
  /** How long an item is kept where its `put` does not say, in minutes, as LangGraph counts them. @default for good */
  ttlMinutes: ttlMinutes.optional(),
  /** Whether what is read is kept for its whole time again, from then on, as LangGraph does it. @default true */
  refreshOnRead: z.boolean().default(true),
  /**
   * Which fields of a value are searched where its `put` does not say: "title", "meta.title", "chapters[*].text",
   * "authors[0]", "authors[-1]"; "$" is all of it. Inside a node LangGraph passes on no other.
   *
   * @default ["$"]
   */
  indexFields: indexFields.default(["$"]),
});

/** How LangGraph's store keeps and finds items. */
export interface StoreConfig extends z.input<typeof storeOptionsSchema> {}

/** How LangGraph's store keeps and finds items, with defaults filled in. */
export type StoreOptions = z.output<typeof storeOptionsSchema>;
