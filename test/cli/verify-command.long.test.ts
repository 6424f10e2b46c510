import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useCommandLine } from "../support/command-line.js";
import { useTestDatabase } from "../support/test-database.js";

const cli = useCommandLine(useTestDatabase());

it("`mnemograph verify` checks a receipt with the public key alone", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const receipt = await cli.withMemory(
    async (memory) => {
      const scope = { userId: "ana" };
      await memory.memories.add({ scope, memories: { text: "Ana rows." } });
      await memory.forget({ scope, actor: "joe" });
      const [erasure] = await memory.erasures.list();
      return memory.erasures.receipt({ id: erasure?.id ?? "" });
    },
    { config: { receipts: { privateKey: pem } } },
  );
  const save = (name: string, text: string) => {
    const file = join(cli.folder, name);
    writeFileSync(file, text);
    return file;
  };
  const key = save("key.pem", publicKey.export({ type: "spki", format: "pem" }).toString());
  const verify = (name: string, content: object) =>
    cli.runOn(["verify", save(name, JSON.stringify(content, null, 2)), "--public-key", key]);

  const good = await verify("good.json", receipt);
  expect(good).toMatchObject({ code: 0 });
  expect(good.out).toMatch(
    /^Valid\.\nErased: user, by joe, .* 0 rows after\.\nChecked by references, .*: 0 rows left\.\nNot covered: backups/,
  );
  const changed = await verify("changed.json", {
    ...receipt,
    erasure: { ...receipt.erasure, actor: "ben" },
  });
  expect(changed).toMatchObject({ code: 1, out: expect.stringContaining("was changed") });
  const unsigned = await verify("unsigned.json", { ...receipt, signature: "unsigned" });
  expect(unsigned).toMatchObject({ code: 1, out: expect.stringContaining("It is unsigned.") });
  expect(await verify("other.json", { a: 1 })).toMatchObject({ code: 2 });
});
