import { MemoryError } from "../../errors.js";
import {
  type Block,
  mostNumbers,
  plainBlocks,
  type VectorBlocks,
  webAssemblyBlocks,
} from "./vector-blocks.js";

/** The vectors of one owner by slot, of one length. */
export interface HeldVectors {
  /**
   * Puts a vector into a slot.
   *
   * @param halfvec as pgvector sends it (`halfvec_send`): how many numbers (16 bits), 16 bits of 0, and the numbers in half
   *   precision, all with the high byte first
   * @throws MemoryError `DIMENSION_MISMATCH` when it is no such vector, or one of another length
   * @throws RangeError when no memory is left: WebAssembly has 4 GB
   */
  set(slot: number, halfvec: Buffer): void;
  /** Empties a slot: its product is 0. */
  clear(slot: number): void;
  /**
   * The inner products with `question`, by slot; 0 for slots without a vector. Of unit vectors they are the similarity,
   * which rounding may put a trifle above 1.
   *
   * @param question in the form of `set` @throws MemoryError `DIMENSION_MISMATCH`
   */
  products(question: Buffer): Float32Array;
  /** Bytes that its blocks take up, whether or not all their slots are used. */
  readonly bytes: number;
  /** Gives all memory back. Nothing is held from then on: what is set is dropped, so that a load under way does no harm. */
  release(): void;
}

/** Where the vectors of all owners lie: one for a `Memory`, which drops it when it is closed. */
export interface VectorStore {
  /** Vectors for one owner. @param dimensions of the space, 1–16,000 */
  open(dimensions: number): HeldVectors;
  /** What multiplies: WebAssembly with SIMD, or TypeScript where that is missing. */
  readonly kernel: VectorKernel;
  /** Bytes taken from the system: all that is held, and what was given back and waits for the next owner. */
  readonly bytes: number;
}

export type VectorKernel = "webassembly" | "plain";

/** @param kernel @default "webassembly", and "plain" where the process has no WebAssembly with SIMD */
export function createVectorStore(kernel: VectorKernel = "webassembly"): VectorStore {
  const fast = kernel === "webassembly" ? webAssemblyBlocks() : null;
  const blocks = fast ?? plainBlocks();
  return {
    open: (dimensions) => heldVectors(blocks, dimensions),
    kernel: fast ? "webassembly" : "plain",
    get bytes() {
      return blocks.bytes;
    },
  };
}

/** Vectors of a block. Few, since most owners have some dozens of memories; a call of the kernel for eight costs 1 %. */
const blockVectors = 8;
/** Numbers that the kernel takes at a time. */
const step = 16;
const bytesOfNumber = 4;
/** Bytes of a `halfvec` in front of its numbers. */
const headBytes = 4;

function heldVectors(store: VectorBlocks, dimensions: number): HeldVectors {
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > mostNumbers) {
    throw new MemoryError("INVALID_INPUT", `Vectors have 1 to ${mostNumbers} dimensions, not ${dimensions}.`);
  }
  const length = Math.ceil(dimensions / step) * step;
  let blocks: Block[] | null = [];
  const asked = new Float32Array(length);
  const slotIn = (block: Block, slot: number) => {
    const from = (slot % blockVectors) * length;
    return store.numbersOf(block).subarray(from, from + length);
  };
  return {
    get bytes() {
      return (blocks?.length ?? 0) * blockVectors * length * bytesOfNumber;
    },
    set(slot, halfvec) {
      requireLength(halfvec, dimensions);
      if (!blocks) return;
      const index = Math.floor(slot / blockVectors);
      while (blocks.length <= index) blocks.push(store.take(blockVectors * length));
      readNumbers(halfvec, slotIn(blocks[index] as Block, slot));
    },
    clear(slot) {
      const block = blocks?.[Math.floor(slot / blockVectors)];
      if (block) slotIn(block, slot).fill(0);
    },
    products(question) {
      requireLength(question, dimensions);
      const products = new Float32Array((blocks?.length ?? 0) * blockVectors);
      readNumbers(question, asked);
      if (blocks) store.multiply(asked, blocks, products);
      return products;
    },
    release() {
      for (const block of blocks ?? []) store.giveBack(block);
      blocks = null;
    },
  };
}

function requireLength(halfvec: Buffer, dimensions: number): void {
  const bytes = headBytes + 2 * dimensions;
  if (halfvec.length === bytes && halfvec.readUInt16BE(0) === dimensions) return;
  throw new MemoryError(
    "DIMENSION_MISMATCH",
    `A vector of ${dimensions} dimensions has ${bytes} bytes, and this one ${halfvec.length}. The embeddings were changed: use another \`embeddingSpace\`.`,
  );
}

/** Writes the numbers of a vector to the start of `numbers`. */
function readNumbers(halfvec: Buffer, numbers: Float32Array): void {
  const known = halfNumbers();
  for (let from = headBytes, to = 0; from < halfvec.length; from += 2, to++) {
    numbers[to] = known[((halfvec[from] as number) << 8) | (halfvec[from + 1] as number)] as number;
  }
}

let table: Float32Array | undefined;

/** All numbers of half precision by their bits: looking one up is quicker than making it. */
function halfNumbers(): Float32Array {
  if (table) return table;
  table = new Float32Array(65_536);
  for (let from = 0; from < table.length; from += 1024)
    fillNumbers(table.subarray(from, from + 1024), from >> 10);
  return table;
}

/** The numbers whose bits begin with `head`, a sign and 5 bits of exponent, by the 10 bits of their fraction. */
function fillNumbers(numbers: Float32Array, head: number): void {
  const sign = head & 0x20 ? -1 : 1;
  const exponent = head & 0x1f;
  if (exponent === 0x1f) {
    numbers.fill(Number.NaN);
    numbers[0] = sign * Number.POSITIVE_INFINITY;
    return;
  }
  // Those of the least exponent have no leading 1.
  const leading = exponent === 0 ? 0 : 1024;
  const scale = sign * 2 ** (Math.max(exponent, 1) - 25);
  for (let fraction = 0; fraction < 1024; fraction++) numbers[fraction] = scale * (leading + fraction);
}
