import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../src/config.js";

const source = join(import.meta.dirname, "../../src");

/** Each group of settings, with the file and the name of its schema. */
const groups = {
  database: ["postgres/open-database.ts", "databaseOptionsSchema"],
  context: ["transcript/context-options.ts", "contextOptionsSchema"],
  memories: ["memories/item/memories-settings.ts", "memoriesSettingsSchema"],
  insights: ["reflection/insights/insights-options.ts", "insightsOptionsSchema"],
  upkeep: ["work/jobs-options.ts", "taskOptionsSchema"],
  notes: ["notes/notes-options.ts", "notesOptionsSchema"],
  jobs: ["work/jobs-options.ts", "jobsOptionsSchema"],
  consolidation: [
    "reflection/consolidation/consolidation-options.ts",
    "consolidationOptionsSchema",
  ],
  lifecycle: ["retention/lifecycle/lifecycle-options.ts", "lifecycleOptionsSchema"],
  retrieval: ["search/retrieval-options.ts", "retrievalOptionsSchema"],
  "retrieval.rerank": ["search/retrieval-options.ts", "rerankOptionsSchema"],
  receipts: ["retention/forgetting/receipts-options.ts", "receiptsOptionsSchema"],
  energy: ["observability/usage/energy-options.ts", "energyOptionsSchema"],
  consent: ["memories/consent/consent-policy.rule.ts", "consentConfigSchema"],
  store: ["store/store-options.ts", "storeOptionsSchema"],
  spans: ["composition/observe.ts", "spansOptionsSchema"],
  "notes.apps.*": ["notes/notes-options.ts", "appOptionsSchema"],
} as const;

/** The docstrings of the settings of a schema, by setting. */
function docsOf([file, schema]: readonly [file: string, schema: string]): Map<string, string> {
  const parsed = ts.createSourceFile(
    file,
    readFileSync(join(source, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const docs = new Map<string, string>();
  const visit = (node: ts.Node, within: boolean): void => {
    const inside = within || (ts.isVariableDeclaration(node) && node.name.getText() === schema);
    if (inside && ts.isPropertyAssignment(node)) {
      const comments = ts.getJSDocCommentsAndTags(node).map((doc) => doc.getText());
      docs.set(node.name.getText(), comments.join(" "));
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(parsed, false);
  return docs;
}

describe("docstrings of settings", () => {
  it.each(Object.entries(groups))(
    "Each setting's docstring has a description and the default: %s",
    (group, place) => {
      let values = resolveConfig({}) as unknown as Record<string, unknown>;
      // A group by id (`*`) has no defaults.
      for (const name of group.split(".")) values = (values[name] ?? {}) as Record<string, unknown>;
      const docs = docsOf(place);
      expect(docs.size).toBeGreaterThan(0);
      for (const [name, text] of docs) {
        expect(text, name).toMatch(/\/\*\*\s*\*?\s*\S/);
        const value = values[name];
        if (value === undefined || typeof value === "object") continue;
        const said = /@default (\S+?)[,:]?(?:\s|$)/.exec(text)?.[1] ?? "";
        expect(said.replaceAll("_", "").replaceAll('"', ""), name).toBe(String(value));
      }
    },
  );
});
