import { dotProducts } from "./dot-products.js";

/** Memory for vectors in blocks, and the products of all vectors of some blocks with a question. */
export interface VectorBlocks {
  /** A block of `numbers` zeros. @throws RangeError when no more memory is to be had */
  take(numbers: number): Block;
  /** Gives a block back, for the next one of its size. */
  giveBack(block: Block): void;
  /** The block's numbers, to be read and written until the next block is taken. */
  numbersOf(block: Block): Float32Array;
  /**
   * Writes the products of `question` with the vectors of `blocks` to `products`, in their order.
   *
   * @param question as long as each of the vectors: a multiple of 16, at most `mostNumbers`
   */
  multiply(question: Float32Array, blocks: readonly Block[], products: Float32Array): void;
  /** Bytes taken from the system. Of what was given back none return to it before the blocks as a whole are dropped. */
  readonly bytes: number;
}

/** Where a block lies, in bytes, and how many numbers it has. */
export interface Block {
  readonly at: number;
  readonly numbers: number;
}

/** Longest vector: pgvector's `halfvec` has at most 16,000 numbers. */
export const mostNumbers = 16_000;

const bytesOfNumber = 4;
/** A page of WebAssembly, by which memory grows. */
const pageBytes = 65_536;
/** The first page is the question's, and the second one for products, so that no products need space of their own. */
const productsAt = pageBytes;
const mostProducts = pageBytes / bytesOfNumber;
const blocksAt = 2 * pageBytes;
/** Memory grows by a megabyte at least, and by an eighth: where it cannot grow in its place, it is copied. */
const fewestPages = 16;
const grownBy = 1 / 8;
/** Most that WebAssembly can address: 4 GB. */
const mostPages = 65_536;

/** What is used of WebAssembly, which the types of Node 20 leave out. */
interface WebAssemblyApi {
  readonly validate: (code: Uint8Array) => boolean;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  readonly Memory: new (size: { initial: number }) => WebAssemblyMemory;
}
interface WebAssemblyMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface Kernel {
  products(question: number, vector: number, count: number, bytes: number, product: number): void;
}

/**
 * Blocks in one memory of WebAssembly, whose products are made by `dot-products.wat`; null where there is none, none with
 * SIMD, or the host forbids to compile. One memory for all, since V8 sets 8 GB of addresses aside for each.
 */
export function webAssemblyBlocks(): VectorBlocks | null {
  const { WebAssembly: api } = globalThis as { WebAssembly?: WebAssemblyApi };
  const code = Buffer.from(dotProducts, "base64");
  try {
    if (!api?.validate(code)) return null;
    const memory = new api.Memory({ initial: blocksAt / pageBytes });
    const { exports } = new api.Instance(new api.Module(code), { held: { memory } });
    return blocksIn(memory, exports as Kernel);
  } catch {
    return null;
  }
}

function blocksIn(memory: WebAssemblyMemory, kernel: Kernel): VectorBlocks {
  const free = new Map<number, Block[]>();
  let end = blocksAt;
  const growTo = (needed: number) => {
    const missing = Math.ceil((needed - memory.buffer.byteLength) / pageBytes);
    if (missing <= 0) return;
    const pages = memory.buffer.byteLength / pageBytes;
    memory.grow(
      Math.max(missing, Math.min(Math.max(fewestPages, Math.ceil(pages * grownBy)), mostPages - pages)),
    );
  };
  const numbersOf = ({ at, numbers }: Block) => new Float32Array(memory.buffer, at, numbers);
  return {
    get bytes() {
      return memory.buffer.byteLength;
    },
    take(numbers) {
      const used = free.get(numbers)?.pop();
      if (used) {
        numbersOf(used).fill(0);
        return used;
      }
      growTo(end + numbers * bytesOfNumber);
      const block = { at: end, numbers };
      end += numbers * bytesOfNumber;
      return block;
    },
    giveBack(block) {
      const others = free.get(block.numbers);
      if (others) others.push(block);
      else free.set(block.numbers, [block]);
    },
    numbersOf,
    multiply(question, blocks, products) {
      new Float32Array(memory.buffer, 0, question.length).set(question);
      const bytes = question.length * bytesOfNumber;
      let [done, made] = [0, 0];
      const flush = () => {
        products.set(new Float32Array(memory.buffer, productsAt, made), done);
        done += made;
        made = 0;
      };
      for (const { at, numbers } of blocks) {
        const count = numbers / question.length;
        if (made + count > mostProducts) flush();
        kernel.products(0, at, count, bytes, productsAt + made * bytesOfNumber);
        made += count;
      }
      flush();
    },
  };
}

/** Blocks as arrays, whose products are made here: some ten times slower. */
export function plainBlocks(): VectorBlocks {
  const arrays = new Map<number, Float32Array>();
  let [next, bytes] = [0, 0];
  const numbersOf = ({ at }: Block) => arrays.get(at) as Float32Array;
  return {
    get bytes() {
      return bytes;
    },
    take(numbers) {
      const block = { at: next++, numbers };
      arrays.set(block.at, new Float32Array(numbers));
      bytes += numbers * bytesOfNumber;
      return block;
    },
    giveBack(block) {
      if (arrays.delete(block.at)) bytes -= block.numbers * bytesOfNumber;
    },
    numbersOf,
    multiply(question, blocks, products) {
      let made = 0;
      for (const block of blocks) {
        const numbers = numbersOf(block);
        for (let from = 0; from < numbers.length; from += question.length) {
          products[made++] = plainProduct(question, numbers, from);
        }
      }
    },
  };
}

/** Four sums, as one addition need not wait for another then. */
function plainProduct(question: Float32Array, numbers: Float32Array, from: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < question.length; i += 4) {
    a += (question[i] as number) * (numbers[from + i] as number);
    b += (question[i + 1] as number) * (numbers[from + i + 1] as number);
    c += (question[i + 2] as number) * (numbers[from + i + 2] as number);
    d += (question[i + 3] as number) * (numbers[from + i + 3] as number);
  }
  return a + b + (c + d);
}
