import { createMemory, type MemoryOptions } from "../../src/index.js";
import { percentile, printTable } from "../table.js";
import { seeded, sentence } from "./sentences.js";

const adds = 300;
const linksEach = 3;

/**
 * Milliseconds that one link to a neighbour costs when a memory is added: the median of adds that link to three
 * neighbours, less that of adds of the same texts that link to none.
 */
export async function measureEdges(options: MemoryOptions): Promise<number> {
  const open = (links: number) =>
    createMemory({
      ...options,
      // Whatever is nearest is linked.
      config: { memories: { extract: false, episodes: false, links, linkSimilarity: 0 } },
    });
  const [linking, alone] = [open(linksEach), open(0)];
  const random = seeded(77);
  const took = { linking: [] as number[], alone: [] as number[] };
  const add = async (into: number[], memory: typeof linking, userId: string, text: string) => {
    const startedAt = performance.now();
    await memory.memories.add({ text }, { scope: { userId } });
    into.push(performance.now() - startedAt);
  };
  for (let index = 0; index < adds; index++) {
    const text = sentence(random);
    // In turns, so that whatever else the machine does meets both.
    await add(took.linking, linking, "linking", text);
    await add(took.alone, alone, "alone", text);
  }
  await linking.close();
  await alone.close();
  const [linked, unlinked] = [percentile(took.linking, 0.5), percentile(took.alone, 0.5)];
  const edgeMs = Math.max(0, (linked - unlinked) / linksEach);
  printTable("What links cost when a memory is added", [
    { what: "with links to three neighbours", "p50 ms": linked },
    { what: "without links", "p50 ms": unlinked },
    { what: "each link", "p50 ms": edgeMs },
  ]);
  return edgeMs;
}
