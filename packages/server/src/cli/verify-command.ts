import { createPublicKey } from "node:crypto";
import type { ErasureReceipt } from "mnemograph";
import { type CliCommand, readText } from "./flags.js";
import { counted, print, WrongUse } from "./output.js";

interface VerifyFlags {
  readonly publicKey: string;
  readonly json?: true;
}

export const verifyCommand: CliCommand = {
  name: "verify",
  description: "check the receipt of an erasure with the public key alone; opens no database",
  examples: [["verify receipt.json --public-key key.pem", "ends with 1 if anything is wrong"]],
  flags: (command) =>
    command
      .argument("<receipt>", "the file")
      .requiredOption("--public-key <file>", "the Ed25519 key that receipts are signed for, as PEM")
      .option("--json", "print JSON"),
  async run(file: string, flags: VerifyFlags) {
    const { erasureReceipt, receiptProblems, parseInput, parseJson } = await import(
      "mnemograph/contract"
    );
    const json = parseJson(readText(file), file);
    const receipt = parseInput(erasureReceipt, json, "receipt");
    const key = readText(flags.publicKey);
    const problems = receiptProblems(receipt, requireEd25519(key, flags.publicKey));
    const isValid = problems.length === 0;
    print(flags, { valid: isValid, problems, erasure: receipt.erasure }, () =>
      [...(isValid ? ["Valid."] : problems), ...described(receipt)].join("\n"),
    );
    if (!isValid) process.exitCode = 1;
  },
};

function described({ erasure, check, notCovered }: ErasureReceipt): string[] {
  const rows = (counts: Readonly<Record<string, number>>) =>
    counted(
      Object.values(counts).reduce((sum, count) => sum + count, 0),
      "row",
    );
  const { kind, actor, before, after, endedAt } = erasure;
  return [
    `Erased: ${kind.replaceAll("_", " ")}, by ${actor}, ${endedAt}: ${rows(before)} before, ${rows(after)} after.`,
    `Checked by ${check.by}, ${check.at}: ${rows(check.left)} left.`,
    `Not covered: ${notCovered.join("; ")}.`,
  ];
}

function requireEd25519(pem: string, file: string): string {
  try {
    if (createPublicKey(pem).asymmetricKeyType === "ed25519") return pem;
  } catch {
    // No key at all.
  }
  throw new WrongUse(`${file} has no public Ed25519 key as PEM.`);
}
