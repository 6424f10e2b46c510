import { type BaseStore, InMemoryStore } from "@langchain/langgraph-checkpoint";
import { PostgresStore } from "@langchain/langgraph-checkpoint-postgres/store";
import { inject } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import type { TestDatabase } from "../support/test-database.js";

const dims = 64;

/** A store to compare, empty, and what ends it. */
interface ComparedStore {
  readonly store: BaseStore;
  readonly end: () => Promise<void>;
}

/** The stores that the conformance suite runs on; PostgresStore on a server only. */
export function comparedStores(
  db: TestDatabase,
): Readonly<Record<string, () => Promise<ComparedStore>>> {
  const embeddings = new HashingEmbeddings({ dimensions: dims });
  let count = 0;
  const ours = async () => {
    const memory = db.memory({ embeddings });
    if (count === 0) await memory.setup();
    return {
      store: memory.store({ scope: { userId: `conformance ${count++}` } }),
      end: async () => {},
    };
  };
  const url = inject("databaseUrl");
  return {
    ours,
    InMemoryStore: async () => ({
      store: new InMemoryStore({ index: { dims, embeddings } }),
      end: async () => {},
    }),
    ...(url !== null && {
      PostgresStore: async () => {
        const schema = `langgraph_store_${process.pid}_${count++}`;
        const store = new PostgresStore({
          connectionOptions: url,
          schema,
          index: { dims, embed: embeddings },
        });
        await store.setup();
        const end = async () => {
          await store.stop();
          await db.pool.query(`drop schema "${schema}" cascade`);
        };
        return { store, end };
      },
    }),
  };
}
