import { existsSync } from "node:fs";
import { openBenchDatabase } from "./bench-database.js";
import { printEnvironment } from "./report.js";
import { runRetrieval } from "./retrieval/run-retrieval.js";

const [file] = process.argv.slice(2);
if (file === undefined || !existsSync(file)) {
  console.log(
    `${file === undefined ? "No file given" : `There is no ${file}`}: skipped. npm run bench:retrieval -- FILE reads LoCoMo ` +
      "(Maharana et al., ACL 2024; CC BY-NC 4.0, not part of this package) in the form of bench/retrieval/retrieval-data.ts.",
  );
} else {
  const database = await openBenchDatabase();
  try {
    printEnvironment(database);
    await runRetrieval(database, file);
  } finally {
    await database.close();
  }
}
