import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import { attempt } from "../../input/plain-json.js";

export const receiptsOptionsSchema = z.strictObject({
  /**
   * The Ed25519 key that signs receipts of erasures, as PEM (`openssl genpkey -algorithm ed25519`).
   * @default none: receipts say that they are unsigned
   */
  privateKey: z.string().refine(isEd25519, "must be a private Ed25519 key as PEM").optional(),
  /**
   * A secret of at least 32 characters that is kept in no table. An erased id is kept as an HMAC
   * under it: asking for an id answers, and a list names nobody.
   * @default none: nothing is kept of an erased id
   */
  idKey: z.string().min(32).optional(),
});

export type ReceiptsOptions = z.output<typeof receiptsOptionsSchema>;

function isEd25519(pem: string): boolean {
  return attempt(() => createPrivateKey(pem).asymmetricKeyType) === "ed25519";
}
