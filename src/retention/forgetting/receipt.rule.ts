import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { z } from "zod";

/** "user_in_app": the memories and conversations of a user in one app. */
export const erasureKinds = ["user", "user_in_app", "app"] as const;
export type ErasureKind = (typeof erasureKinds)[number];

const countsField = z.record(z.string(), z.number());

/** What is known of an erasure for good. Times are ISO 8601. */
const erasureRecord = z.strictObject({
  id: z.string(),
  tenantId: z.string().nullable(),
  kind: z.enum(erasureKinds),
  actor: z.string(),
  beganAt: z.string(),
  endedAt: z.string(),
  /** Rows by table. */
  before: countsField,
  after: countsField,
  /** HMAC-SHA-256 of the erased id under `receipts.idKey`. */
  idHmac: z.string().nullable(),
  /** SHA-256 of the record before it in the tenant; null: it is the first. */
  previous: z.string().nullable(),
});
export type ErasureRecord = z.output<typeof erasureRecord>;

/** What the database had of the erased id when the receipt was made. */
const erasureCheck = z.strictObject({
  at: z.string(),
  /**
   * "id": all rows of the id, found by its HMAC. "references": rows that refer to the deleted owner.
   * "nothing": a part of a user, without an HMAC.
   */
  by: z.enum(["id", "references", "nothing"]),
  left: countsField,
  /** Null: not checked. */
  passed: z.boolean().nullable(),
});
export type ErasureCheck = z.output<typeof erasureCheck>;

const format = "mnemograph-erasure-receipt-1";

export const erasureReceipt = z.strictObject({
  format: z.literal(format),
  erasure: erasureRecord,
  /** Of `erasure`, as JSON with sorted keys. */
  sha256: z.string(),
  check: erasureCheck,
  notCovered: z.array(z.string()),
  /** Of all the rest, as JSON with sorted keys; base64. */
  signature: z.union([
    z.literal("unsigned"),
    z.strictObject({ algorithm: z.literal("Ed25519"), value: z.string() }),
  ]),
});
export type ErasureReceipt = z.output<typeof erasureReceipt>;

/** What an erasure here does not reach. */
const notCovered = [
  "backups and replicas of the database",
  "logs of the database and of the application",
  "files that were written by export",
  "what providers of models and embeddings kept",
  "copies that the application and others made",
  "checkpoints that other savers wrote",
];

/** JSON with sorted keys: equal values give equal texts. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(
      Object.entries(each).sort(([first], [second]) => (first < second ? -1 : 1)),
    );
  });
}

export const recordHash = (record: ErasureRecord): string =>
  createHash("sha256").update(canonicalJson(record)).digest("hex");

/** @param sha256 of the record when it was finished */
export function makeReceipt(
  erasure: ErasureRecord,
  sha256: string,
  check: ErasureCheck,
  privateKey: string | undefined,
): ErasureReceipt {
  const content = { format, erasure, sha256, check, notCovered } as const;
  if (privateKey === undefined) return { ...content, signature: "unsigned" };
  const value = sign(null, signedBytes(content), createPrivateKey(privateKey)).toString("base64");
  return { ...content, signature: { algorithm: "Ed25519", value } };
}

const signedBytes = (content: Omit<ErasureReceipt, "signature">) =>
  Buffer.from(canonicalJson(content));

/** What is wrong with a receipt; empty: nothing. @param publicKey as PEM */
export function receiptProblems(receipt: ErasureReceipt, publicKey: string): string[] {
  const { signature, ...content } = receipt;
  const problems: string[] = [];
  if (signature === "unsigned") problems.push("It is unsigned.");
  else {
    const value = Buffer.from(signature.value, "base64");
    if (!verify(null, signedBytes(content), createPublicKey(publicKey), value))
      problems.push("The signature is not of this key, or the receipt was changed.");
  }
  if (recordHash(content.erasure) !== content.sha256)
    problems.push("The SHA-256 is not of this erasure.");
  if (content.check.passed === null) problems.push("What is left was not checked.");
  if (content.check.passed === false) {
    const left = Object.entries(content.check.left).map(([table, rows]) => `${rows} in ${table}`);
    problems.push(`Rows were there when it was made: ${left.join(", ")}.`);
  }
  return problems;
}
