import { z } from "zod";
import { storableText } from "../input/parse-input.js";

/** Ten years. */
const maxMinutes = 5_256_000;

export const ttlMinutes = z.number().positive().max(maxMinutes);

export const indexFields = z.array(storableText.min(1).max(1_000)).max(100);

export const allFields: readonly string[] = ["$"];

export const storeOptionsSchema = z.strictObject({
  /**
   * Minutes that an item is kept unless its `put` says otherwise; reading it extends its time. Set
   * it when agents write more than they delete.
   * @default for good
   */
  ttlMinutes: ttlMinutes.optional(),
});

export interface StoreConfig extends z.input<typeof storeOptionsSchema> {}

export type StoreOptions = z.output<typeof storeOptionsSchema>;
