/**
 * Who may import whom. Imports go one way: foundations, then capabilities, then turns, then the
 * ways in. To add a capability, add its folder and one line here.
 */

/**
 * Folder of src → folders it may import besides itself. Folders that are missing here may import
 * nothing.
 */
const mayImport = {
  // Foundations.
  text: [],
  postgres: ["text"],
  scope: ["text", "postgres"],
  models: ["text", "postgres"],
  telemetry: ["text", "models"],
  usage: ["text", "postgres", "scope", "models", "telemetry"],
  events: ["text", "postgres", "scope", "usage", "memories/item"],
  conversation: ["text", "postgres", "scope"],
  jobs: ["text", "postgres", "scope", "models", "usage", "events", "conversation"],
  "local-embeddings": ["text"],
  // Capabilities.
  "memories/item": ["text", "postgres", "scope"],
  "memories/slot": ["text", "postgres", "scope", "memories/item"],
  "memories/changes": ["text", "postgres", "scope", "events", "memories/item"],
  "memories/guard": ["text", "postgres", "scope", "events", "memories/item", "memories/changes"],
  "memories/apply": [
    ...["text", "postgres", "scope", "models", "events", "jobs"],
    ...["memories/item", "memories/slot", "memories/changes", "memories/guard"],
  ],
  "memories/write": [
    ...["text", "postgres", "scope", "models", "events", "conversation", "jobs"],
    ...["memories/item", "memories/slot", "memories/changes", "memories/guard", "memories/apply"],
  ],
  "memories/edit": [
    ...["text", "postgres", "scope", "models", "events"],
    ...["memories/item", "memories/slot", "memories/changes", "memories/guard"],
    ...["memories/apply", "memories/write"],
  ],
  memories: [
    ...["text", "postgres", "scope"],
    ...["memories/item", "memories/changes", "memories/guard", "memories/write", "memories/edit"],
  ],
  checkpoints: ["text", "postgres", "scope", "conversation"],
  summaries: ["text", "postgres", "scope", "models", "events", "conversation", "jobs"],
  search: ["text", "postgres", "scope", "models", "conversation", "memories/item"],
  store: ["text", "postgres", "scope", "models", "jobs", "search"],
  facts: [
    ...["text", "postgres", "scope", "models", "events", "conversation", "jobs"],
    ...["memories/item", "memories/guard", "memories/write", "search"],
  ],
  consolidation: [
    ...["text", "postgres", "scope", "models", "events", "jobs", "usage"],
    ...["memories/item", "memories/slot", "memories/changes", "memories/guard"],
    ...["memories/apply", "memories/write"],
  ],
  episodes: [
    ...["text", "postgres", "scope", "models", "events", "conversation", "jobs"],
    ...["memories/item", "memories/write"],
  ],
  notes: [
    ...["text", "postgres", "scope", "models", "events", "conversation", "jobs"],
    ...["memories/item", "memories/changes", "memories/apply", "memories/write", "memories/edit"],
    ...["forgetting", "search"],
  ],
  insights: [
    ...["text", "postgres", "scope", "models", "events", "conversation", "jobs"],
    ...["memories/item", "memories/changes", "memories/guard", "memories/apply", "memories/write"],
  ],
  procedures: [
    ...["text", "postgres", "scope", "models", "events", "conversation", "jobs"],
    ...["memories/item", "memories/write"],
  ],
  consents: [
    ...["text", "postgres", "scope", "events", "jobs"],
    ...["memories/item", "memories/guard", "memories/apply", "memories/write", "memories/edit"],
  ],
  forgetting: [
    ...["text", "postgres", "scope", "events", "conversation", "checkpoints"],
    ...["memories/item", "memories/changes", "memories/apply"],
  ],
  lifecycle: [
    ...["text", "postgres", "scope", "jobs", "forgetting", "usage"],
    ...["memories/item", "memories/changes", "memories/apply", "memories/write"],
  ],
  transfer: [
    ...["text", "postgres", "scope", "events", "conversation", "jobs"],
    ...[
      "memories/item",
      "memories/changes",
      "memories/guard",
      "memories/write",
      "summaries",
      "store",
    ],
  ],
  edits: [
    ...["text", "postgres", "scope", "events", "conversation", "jobs"],
    ...["memories/item", "memories/guard", "memories/apply", "memories/write"],
    ...["checkpoints", "forgetting"],
  ],
  owners: ["text", "postgres", "scope", "conversation", "jobs", "forgetting", "memories/item"],
  turns: [
    ...["text", "postgres", "scope", "events", "conversation", "jobs"],
    ...["memories/item", "memories/changes", "consents", "search", "summaries", "episodes"],
    ...["models", "notes", "edits"],
  ],
  // The parts of `create-memory.ts`.
  composition: [
    ...["text", "postgres", "scope", "models", "usage", "events", "conversation", "jobs"],
    ...["memories/item", "facts", "summaries", "episodes", "notes", "insights", "consolidation"],
    ...["consents", "lifecycle", "store", "search", "turns", "telemetry", "local-embeddings"],
  ],
  // Ways in: they know what `Memory` says, and the types and pure rules that it speaks of.
  "langgraph/run": ["text", "scope", "events", "search", "turns"],
  "langgraph/checkpointer": ["text", "postgres", "scope", "conversation", "langgraph/run"],
  "langgraph/nodes": [
    ...[
      "text",
      "scope",
      "conversation",
      "memories/item",
      "memories/guard",
      "consents",
      "search",
      "turns",
    ],
    ...["langgraph/run", "langgraph/checkpointer"],
  ],
  "langgraph/tools": [
    ...[
      "text",
      "scope",
      "events",
      "conversation",
      "memories/item",
      "memories/guard",
      "consents",
      "search",
    ],
    ...["langgraph/run", "langgraph/nodes"],
  ],
  "langgraph/wrap": [
    ...["text", "conversation", "search", "turns"],
    ...["langgraph/run", "langgraph/checkpointer", "langgraph/nodes", "langgraph/tools"],
  ],
  "langgraph/supervisor": ["text", "langgraph/run", "langgraph/tools", "langgraph/wrap"],
  testing: ["testing/offline"],
  "testing/offline": [],
};

/**
 * Files of src itself that every folder may import: errors, the clock, the logger, optional
 * packages, and what a memory runs on.
 */
const everywhere = "^src/(errors|clock|deadline|logger|peers|runtime)\\.ts$";

/** Folders that know the contract `memory.ts`, and the one that fulfils it. */
const knowTheContract = "^src/(composition|langgraph)/";

/** Folder of packages/server/src → folders of it that it may import besides itself. */
const serverMayImport = {
  // The one list that routes, commands and tools are made from.
  operations: [],
  "http/inspector": ["http", "operations"],
  http: ["operations", "http/inspector"],
  mcp: ["operations"],
  cli: ["operations", "http", "http/inspector", "mcp"],
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
const rules = "^src/(text/|.+\\.rule\\.ts$)";

/** What rules share that is no rule: scopes, what a memory is, and settings, with their schemas. */
const plain = [
  "^src/scope/scope\\.ts$",
  "^src/memories/item/memory(-fields)?\\.ts$",
  "^src/(jobs/jobs|search/retrieval)-options\\.ts$",
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
      comment:
        "Only ways in know the contract; nobody but the entry makes a memory.",
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
      comment: "A rule (text/, *.rule.ts) takes no database, file, network or model.",
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
        pathNot: [rules, "^src/(errors|clock)\\.ts$", ...plain],
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
        "LangGraph belongs to src/langgraph, and to src/jobs, where the graphs of background work are built.",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: ["^src/langgraph/", "^src/jobs/"],
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
