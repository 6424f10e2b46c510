/**
 * Who may import whom. Imports go one way: foundations, then capabilities, then turns, then the
 * ways in. To add a capability, add its folder and one line here.
 */

/** Names that several lines below share. */
const strings = ["text", "messages", "input", "screening"];
const foundations = [...strings, "postgres", "scope"];
const observability = ["observability/telemetry", "observability/usage", "observability/events"];
/** What work that asks a model stands on. */
const underModels = [...foundations, "models", ...observability, "transcript", "work"];
const memoryRules = ["memories/item", "memories/slot", "memories/audit", "memories/consent"];

/**
 * Folder of src → folders it may import besides itself. Folders that are missing here may import
 * nothing.
 */
const mayImport = {
  // Foundations.
  text: [],
  input: ["text"],
  messages: ["text", "input"],
  screening: ["text", "input", "messages"],
  postgres: strings,
  scope: [...strings, "postgres"],
  models: [...strings, "postgres"],
  "local-embeddings": strings,
  "observability/telemetry": [...strings, "models"],
  "observability/usage": [...foundations, "models", "observability/telemetry"],
  "observability/events": [...foundations, "observability/usage", "memories/item"],
  transcript: foundations,
  work: [...foundations, "models", ...observability, "transcript"],
  // The road, in the order of a turn.
  "memories/item": foundations,
  "memories/slot": [...foundations, "memories/item"],
  "memories/audit": [...foundations, ...observability, "memories/item"],
  "memories/consent": [...foundations, ...observability, "memories/item", "memories/audit"],
  "memories/apply": [...foundations, "models", ...observability, "work", ...memoryRules],
  "memories/write": [...underModels, ...memoryRules, "memories/apply"],
  "memories/edit": [
    ...foundations,
    "models",
    ...observability,
    ...memoryRules,
    "memories/apply",
    "memories/write",
  ],
  memories: [...foundations, ...memoryRules, "memories/write", "memories/edit"],
  search: [...foundations, "models", "transcript", "memories/item", "memories/audit"],
  summaries: [...foundations, "models", ...observability, "transcript", "work"],
  facts: [...underModels, "memories/item", "memories/consent", "memories/write", "search"],
  consents: [
    ...foundations,
    ...observability,
    "work",
    "memories/item",
    "memories/consent",
    "memories/apply",
    "memories/write",
    "memories/edit",
  ],
  remember: [
    ...foundations,
    ...observability,
    "transcript",
    "work",
    "summaries",
    "episodes",
    "notes",
    "memories/item",
    "memories/audit",
    "memories/consent",
    "memories/apply",
    "memories/write",
    "checkpoints",
    "retention/forgetting",
  ],
  prompt: [
    ...underModels,
    "memories/item",
    "memories/audit",
    "consents",
    "search",
    "summaries",
    "notes",
    "remember",
  ],
  // Side rooms.
  episodes: [...underModels, "memories/item", "memories/write"],
  procedures: [...underModels, "memories/item", "memories/write"],
  notes: [
    ...foundations,
    "models",
    ...observability,
    "transcript",
    "work",
    "search",
    "memories/item",
    "memories/audit",
    "memories/apply",
    "memories/write",
    "memories/edit",
    "retention/forgetting",
  ],
  "reflection/insights": [
    ...underModels,
    "memories/item",
    "memories/audit",
    "memories/consent",
    "memories/apply",
    "memories/write",
  ],
  "reflection/consolidation": [
    ...foundations,
    "models",
    ...observability,
    "work",
    ...memoryRules,
    "memories/apply",
    "memories/write",
    "memories/edit",
  ],
  checkpoints: [...foundations, "transcript"],
  store: [...foundations, "models", "work", "search"],
  transfer: [
    ...foundations,
    ...observability,
    "transcript",
    "work",
    "summaries",
    "store",
    "memories/item",
    "memories/audit",
    "memories/consent",
    "memories/write",
  ],
  "retention/forgetting": [
    ...foundations,
    ...observability,
    "transcript",
    "checkpoints",
    "memories/item",
    "memories/audit",
    "memories/apply",
  ],
  "retention/lifecycle": [
    ...foundations,
    ...observability,
    "transcript",
    "checkpoints",
    "work",
    "retention/forgetting",
    "memories/item",
    "memories/audit",
    "memories/apply",
    "memories/write",
  ],
  "retention/owners": [
    ...foundations,
    "transcript",
    "work",
    "retention/forgetting",
    "memories/item",
  ],
  // The parts of `create-memory.ts`.
  composition: [
    ...foundations,
    "models",
    "local-embeddings",
    ...observability,
    "transcript",
    "work",
    "memories/item",
    "search",
    "summaries",
    "facts",
    "consents",
    "prompt",
    "remember",
    "episodes",
    "notes",
    "reflection/insights",
    "reflection/consolidation",
    "store",
    "retention/lifecycle",
  ],
  // Ways in: they know what `Memory` says, and the types and pure rules that it speaks of.
  "langgraph/run": [...strings, "scope", "observability/events", "search", "prompt", "remember"],
  "langgraph/checkpointer": [...foundations, "transcript", "langgraph/run"],
  "langgraph/nodes": [
    ...strings,
    "scope",
    "transcript",
    "memories/item",
    "memories/consent",
    "consents",
    "search",
    "prompt",
    "remember",
    "langgraph/run",
    "langgraph/checkpointer",
  ],
  "langgraph/tools": [
    ...strings,
    "scope",
    "observability/events",
    "transcript",
    "memories/item",
    "memories/consent",
    "consents",
    "search",
    "langgraph/run",
    "langgraph/nodes",
  ],
  "langgraph/wrap": [
    ...strings,
    "transcript",
    "search",
    "prompt",
    "remember",
    "langgraph/run",
    "langgraph/checkpointer",
    "langgraph/nodes",
    "langgraph/tools",
  ],
  "langgraph/supervisor": [...strings, "langgraph/run", "langgraph/tools", "langgraph/wrap"],
  testing: ["testing/offline", "input", "scope", "memories/item"],
  "testing/offline": [],
};

/**
 * Files of src itself that every folder may import: errors, the clock, the logger, optional
 * packages, and what a memory runs on.
 */
const everywhere = "^src/(errors|clock|deadline|pauses|logger|peers|runtime)\\.ts$";

/** Folders that know the contract `memory.ts`, and the one that fulfils it. */
const knowTheContract = "^src/(composition|langgraph|testing)/";

/** Folder of packages/server/src → folders of it that it may import besides itself. */
const serverMayImport = {
  // The one list that routes, commands and tools are made from.
  operations: ["cases"],
  cases: [],
  "http/inspector": ["http", "operations"],
  http: ["operations", "http/inspector"],
  mcp: ["operations"],
  cli: ["operations", "http", "http/inspector", "mcp", "cases"],
};

const server = "^packages/server/src/";

const escaped = (folder) => `^src/${folder.replaceAll("/", "\\/")}/[^/]+\\.(ts|json)$`;

const folders = Object.entries(mayImport).map(([folder, allowed]) => ({
  name: `imports-of-${folder.replaceAll("/", "-")}`,
  comment: `What src/${folder} may import stands in .dependency-cruiser.mjs.`,
  severity: "error",
  from: { path: escaped(folder) },
  to: {
    path: "^src/.+/",
    pathNot: [folder, ...allowed].map(escaped),
  },
}));

const serverFolders = Object.entries(serverMayImport).map(([folder, allowed]) => ({
  name: `imports-of-server-${folder.replaceAll("/", "-")}`,
  comment: `What packages/server/src/${folder} may import stands in .dependency-cruiser.mjs.`,
  severity: "error",
  from: { path: `${server}${folder}/[^/]+$` },
  to: {
    path: `${server}.+/`,
    pathNot: [folder, ...allowed].map((each) => `${server}${each}/[^/]+$`),
  },
}));

/** Files that are pure rules, and say so by their place or name. */
const rules = "^src/((text|messages|input|screening)/|.+\\.rule\\.ts$)";

/** What rules share that is no rule: scopes, what a memory is, and settings, with their schemas. */
const plain = [
  "^src/scope/scope\\.ts$",
  "^src/memories/item/memory(-fields)?\\.ts$",
  "^src/(work/jobs|search/retrieval)-options\\.ts$",
];

const isPackage = (...names) => names.map((name) => `(^|node_modules/)${name}(/|$)`);

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    ...folders,
    ...serverFolders,
    {
      name: "packages-use-the-contract",
      comment: "Packages import mnemograph by its entries, as those who install it do.",
      severity: "error",
      from: { path: "^packages/" },
      to: {
        path: "^src/",
        pathNot: "^src/(index|contract|(local-embeddings|testing)/index)\\.ts$",
      },
    },
    {
      name: "the-library-knows-no-package",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^packages/" },
    },
    {
      name: "no-circular-files",
      comment: "A callee never imports its caller, types included: put what both need below them.",
      severity: "error",
      from: { path: "^(src|packages)/" },
      to: { circular: true },
    },
    {
      name: "no-circular-folders",
      severity: "error",
      scope: "folder",
      from: { path: "^(src|packages)/" },
      to: { circular: true },
    },
    {
      name: "every-folder-has-its-line",
      comment: "A folder of src without a line in .dependency-cruiser.mjs.",
      severity: "error",
      from: { path: "^src/.+/", pathNot: Object.keys(mayImport).map(escaped) },
      to: {},
    },
    {
      name: "one-door-to-memory-rows",
      comment: "Make a change set, and give it to memories/apply/apply-changes.ts.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/memories/apply/" },
      to: {
        path: "^src/memories/apply/",
        pathNot: "^src/memories/apply/(apply-changes|change-set)\\.ts$",
      },
    },
    {
      name: "top-is-for-the-top",
      comment: "Only ways in know the contract; nobody but the entry makes a memory.",
      severity: "error",
      from: { path: "^src/.+/", pathNot: knowTheContract },
      to: { path: "^src/[^/]+\\.ts$", pathNot: everywhere },
    },
    {
      name: "contract-only",
      severity: "error",
      from: { path: "^src/langgraph/" },
      to: { path: "^src/[^/]+\\.ts$", pathNot: [everywhere, "^src/(memory|internal-api)\\.ts$"] },
    },
    {
      name: "operations-know-no-protocol",
      comment: "Routes, commands and tools are made from operations, and not the other way round.",
      severity: "error",
      from: { path: `${server}operations/` },
      to: { path: isPackage("hono", "@hono/[^/]+", "@modelcontextprotocol/[^/]+", "commander") },
    },
    {
      name: "rules-are-pure",
      comment:
        "A rule (text/, messages/, input/, screening/, *.rule.ts) takes no database, file, network or model.",
      severity: "error",
      from: { path: rules },
      to: {
        path: [
          ...isPackage("pg", "sql-template-tag", "@electric-sql/[^/]+", "p-queue"),
          "^(node:)?(fs|net|http)",
        ],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "rules-use-rules",
      comment: "A rule runs nothing that is not a rule; it may know the types of other things.",
      severity: "error",
      from: { path: rules },
      to: {
        path: "^src/",
        pathNot: [rules, "^src/(errors|clock|pauses)\\.ts$", ...plain],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "drivers-in-postgres",
      comment: "Drivers belong to src/postgres; others have a Connection.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(postgres|langgraph/checkpointer)/" },
      to: {
        path: isPackage("pg", "@electric-sql/[^/]+"),
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "langgraph-where-graphs-are",
      comment:
        "LangGraph belongs to src/langgraph, and to src/work, where the graphs of background work are built.",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: ["^src/langgraph/", "^src/work/"],
      },
      to: {
        path: isPackage("@langchain/langgraph", "langchain"),
        dependencyTypesNot: ["type-only"],
      },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
    exclude: { path: "^node_modules/.*/node_modules" },
  },
};
