import { chatModels } from "../examples/chat/chat-models.js";
import { createMemory, type Logger } from "../src/index.js";

// One memory for all graphs of the dev server, which loads them in one process: the embedded
// database belongs to one process at a time.
//
// DATABASE_URL default: an embedded database in ./.mnemograph OPENAI_API_KEY, OPENAI_BASE_URL any
// OpenAI-compatible endpoint; without a key an offline stand-in MNEMOGRAPH_CHAT_MODEL,
// MNEMOGRAPH_SUMMARY_MODEL default gpt-4.1-mini

const { about, model, summaryModel } = await chatModels(process.env);
console.info(about);

const logger: Logger = {
  debug: () => {},
  info: (message) => console.info(message),
  warn: (message) => console.warn(message),
  error: (message) => console.error(message),
};

/** The model that answers. */
export const studioModel = model;

/** The memory of every graph here; its tables are there. */
export const studioMemory = createMemory({
  database: process.env.DATABASE_URL || { dataDir: ".mnemograph" },
  model: summaryModel,
  // Studio's runs name nobody. A run that does name its user (authenticated, in `context`, or in
  // `configurable`) has that user's memory.
  defaultScope: { appId: "studio" },
  // Whoever debugs wants to see a summary and facts after each turn. The assistant asks before it
  // remembers a name or a city.
  config: { preset: "every-round", consent: { ask: "interrupt" } },
  logger,
});
await studioMemory.setup();
