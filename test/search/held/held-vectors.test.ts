import { readFileSync } from "node:fs";
import fc from "fast-check";
import { toSql } from "pgvector";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compileKernel, kernelPath } from "../../../scripts/compile-dot-products.js";
import { halfvec } from "../../../src/models/embedding-space.js";
import {
  createVectorStore,
  type HeldVectors,
  type VectorKernel,
  type VectorStore,
} from "../../../src/search/held/held-vectors.js";
import { useTestDatabase } from "../../support/test-database.js";

afterEach(() => vi.unstubAllGlobals());

/** A vector with these bits of half precision, as pgvector sends it. */
function sent(bits: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + 2 * bits.length);
  bytes.writeUInt16BE(bits.length, 0);
  for (const [index, each] of bits.entries()) bytes.writeUInt16BE(each, 4 + 2 * index);
  return bytes;
}

/** What the bits mean by the standard (IEEE 754 binary16), read another way than the source does: widened to 32 bits. */
function meaning(bits: number): number {
  const [sign, exponent, fraction] = [(bits & 0x8000) << 16, (bits >> 10) & 31, bits & 1023];
  const view = new DataView(new ArrayBuffer(4));
  if (exponent === 0) return (sign ? -1 : 1) * (fraction / 2 ** 24);
  view.setInt32(0, sign | ((exponent === 31 ? 255 : exponent + 112) << 23) | (fraction << 13));
  return view.getFloat32(0);
}

const plainSum = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, bits, index) => sum + meaning(bits) * meaning(b[index]!), 0);

const unit = (numbers: readonly number[]) => {
  const size = Math.hypot(...numbers) || 1;
  return numbers.map((each) => each / size);
};
const bitsOf = (vector: readonly number[]) => {
  const bytes = halfvec(vector);
  return vector.map((_, index) => bytes.readUInt16BE(4 + 2 * index));
};

/** Bits of unit vectors of one length, which is seldom a multiple of what the kernels take at a time. */
const vectors = fc
  .integer({ min: 1, max: 70 })
  .chain((dimensions) =>
    fc.array(
      fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: dimensions, maxLength: dimensions }),
      { minLength: 1, maxLength: 40 },
    ),
  )
  .map((all) => all.map((vector) => bitsOf(unit(vector))));

const owner = fc.nat(3);
const slot = fc.nat(50);
const change = fc.oneof(
  fc.record({ what: fc.constant("set" as const), owner, slot, seed: fc.nat() }),
  fc.record({ what: fc.constant("clear" as const), owner, slot }),
  fc.record({ what: fc.constant("release" as const), owner }),
);
type Change = typeof change extends fc.Arbitrary<infer Made> ? Made : never;

interface Owner {
  readonly held: HeldVectors;
  readonly dimensions: number;
  /** Bits by slot. */
  readonly expected: Map<number, number[]>;
}

/** Owners of two spaces: blocks of two sizes. */
function opened(store: VectorStore, owner: number): Owner {
  const dimensions = owner % 2 === 0 ? 20 : 48;
  return { held: store.open(dimensions), dimensions, expected: new Map() };
}

const seeded = (seed: number, dimensions: number) =>
  bitsOf(unit(Array.from({ length: dimensions }, (_, index) => Math.sin(seed + index))));

function make(change: Exclude<Change, { what: "release" }>, { held, dimensions, expected }: Owner): void {
  if (change.what === "clear") {
    held.clear(change.slot);
    expected.delete(change.slot);
  } else {
    const vector = seeded(change.seed, dimensions);
    held.set(change.slot, sent(vector));
    expected.set(change.slot, vector);
  }
}

function expectProducts({ held, dimensions, expected }: Owner): void {
  const question = seeded(1, dimensions);
  const products = held.products(sent(question));
  for (const [slot, product] of products.entries()) {
    const vector = expected.get(slot);
    expect(Math.abs(product - (vector ? plainSum(question, vector) : 0))).toBeLessThan(1e-5);
  }
  for (const slot of expected.keys()) expect(slot).toBeLessThan(products.length);
}

it("dot-products.ts is what dot-products.wat compiles to", async () => {
  expect(readFileSync(kernelPath, "utf8")).toBe(await compileKernel());
});

it("this process multiplies with WebAssembly, and without SIMD, without WebAssembly or without leave to compile plainly", () => {
  expect(createVectorStore().kernel).toBe("webassembly");
  expect(createVectorStore("plain").kernel).toBe("plain");
  const { WebAssembly: api } = globalThis as unknown as { WebAssembly: object };
  const forbidden = () => {
    throw new Error("Wasm code generation disallowed by embedder");
  };
  const without: readonly unknown[] = [
    undefined,
    Object.assign(Object.create(api), { validate: () => false }),
    Object.assign(Object.create(api), { Module: forbidden }),
  ];
  for (const each of without) {
    vi.stubGlobal("WebAssembly", each);
    const store = createVectorStore();
    expect(store.kernel).toBe("plain");
    const held = store.open(2);
    held.set(0, sent(bitsOf([0.6, 0.8])));
    expect(held.products(sent(bitsOf([1, 0])))[0]).toBeCloseTo(0.6, 3);
  }
});

describe.each<VectorKernel>(["webassembly", "plain"])("with the kernel %s", (kernel) => {
  it("products are plain sums", () => {
    fc.assert(
      fc.property(vectors, ([question, ...others]) => {
        const held = createVectorStore(kernel).open(question!.length);
        for (const [slot, vector] of others.entries()) held.set(slot, sent(vector));
        const products = held.products(sent(question!));
        expect(products.length).toBeGreaterThanOrEqual(others.length);
        for (const [slot, vector] of others.entries()) {
          expect(Math.abs(products[slot]! - plainSum(question!, vector))).toBeLessThan(1e-5);
        }
        // What has no vector has no product.
        expect([...products.subarray(others.length)].every((each) => each === 0)).toBe(true);
      }),
    );
  });

  it("all numbers of half precision are read, zeros, subnormal, infinite ones and those that are none", () => {
    const held = createVectorStore(kernel).open(1);
    const one = sent([0x3c00]);
    for (let from = 0; from < 65_536; from += 4096) {
      for (let n = 0; n < 4096; n++) held.set(n, sent([from + n]));
      const products = held.products(one);
      const wrong = Array.from({ length: 4096 }, (_, n) => n).filter(
        (n) => !Object.is(products[n]! + 0, meaning(from + n) + 0),
      );
      expect(wrong).toEqual([]);
    }
  });

  it("owners keep apart, whatever is set, cleared, set again and given back", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 120 }), (changes) => {
        const store = createVectorStore(kernel);
        const owners = [0, 1, 2, 3].map((owner) => opened(store, owner));
        for (const each of changes) {
          if (each.what !== "release") make(each, owners[each.owner]!);
          else {
            owners[each.owner]!.held.release();
            owners[each.owner] = opened(store, each.owner);
          }
        }
        for (const owner of owners) expectProducts(owner);
      }),
    );
  });

  it("blocks that were given back are used again, and what is set after that is dropped", () => {
    const store = createVectorStore(kernel);
    const vector = sent(bitsOf(unit(Array.from({ length: 384 }, () => 1))));
    const fill = () => {
      const held = store.open(384);
      for (let slot = 0; slot < 1000; slot++) held.set(slot, vector);
      return held;
    };
    const first = fill();
    const taken = store.bytes;
    expect(first.bytes).toBe(1000 * 384 * 4);
    first.release();
    first.release();
    expect(first.bytes).toBe(0);
    first.set(3, vector);
    expect(first.bytes).toBe(0);
    expect(first.products(vector)).toHaveLength(0);
    for (let round = 0; round < 5; round++) {
      const next: HeldVectors = fill();
      expect(store.bytes).toBe(taken);
      expect(Math.min(...next.products(vector))).toBeCloseTo(1, 3);
      next.release();
    }
    // An owner after that, with gaps: nothing of the others shines through.
    const other = store.open(384);
    other.set(9, vector);
    expect([...other.products(vector)].map(Math.round)).toEqual([
      ...Array.from({ length: 9 }, () => 0),
      1,
      ...Array.from({ length: 6 }, () => 0),
    ]);
  });

  it("a thousand owners are held at once", () => {
    const store = createVectorStore(kernel);
    const owners = Array.from({ length: 1000 }, (_, owner) => {
      const held = store.open(64);
      for (let slot = 0; slot <= owner % 20; slot++) {
        held.set(slot, sent(bitsOf(unit(Array.from({ length: 64 }, (_, n) => Math.cos(owner * n + slot))))));
      }
      return held;
    });
    const question = bitsOf(unit(Array.from({ length: 64 }, (_, n) => Math.cos(n))));
    for (const [owner, held] of owners.entries()) {
      const expected = plainSum(
        question,
        bitsOf(unit(Array.from({ length: 64 }, (_, n) => Math.cos(owner * n)))),
      );
      expect(held.products(sent(question))[0]).toBeCloseTo(expected, 5);
    }
  });

  it("products of more slots than one page of results holds, and of the longest vectors", () => {
    const store = createVectorStore(kernel);
    const many = store.open(3);
    for (let slot = 0; slot < 40_000; slot++) many.set(slot, halfvec([(slot % 100) / 100, 1, 0]));
    const products = many.products(halfvec([1, 0, 0]));
    expect([...products].every((product, slot) => Math.abs(product - (slot % 100) / 100) < 1e-3)).toBe(true);
    const long = store.open(16_000);
    const ones = sent(Array.from({ length: 16_000 }, () => 0x3c00));
    long.set(20, ones);
    expect(long.products(ones)[20]).toBe(16_000);
    expect(many.products(halfvec([0, 1, 0]))[39_999]).toBe(1);
  });

  it.each([
    ["another length", halfvec([1, 0, 0])],
    ["cut off", halfvec([1, 0]).subarray(0, 6)],
    ["empty", Buffer.alloc(0)],
  ])("a vector that is %s is refused, and nothing changes", (_, wrong) => {
    const held = createVectorStore(kernel).open(2);
    held.set(0, halfvec([1, 0]));
    const refused = expect.objectContaining({ code: "DIMENSION_MISMATCH" });
    expect(() => held.set(0, wrong)).toThrow(refused);
    expect(() => held.products(wrong)).toThrow(refused);
    expect(held.products(halfvec([1, 0]))[0]).toBe(1);
  });

  it.each([0, -1, 1.5, 16_001, Number.NaN])("a space of %s dimensions is refused", (dimensions) => {
    expect(() => createVectorStore(kernel).open(dimensions)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT" }),
    );
  });
});

describe("beside pgvector", () => {
  const db = useTestDatabase();

  it("products are what the database makes of the same vectors", async () => {
    await db
      .memory({ embeddings: { embedQuery: async () => [1], embedDocuments: async (t) => t.map(() => [1]) } })
      .setup();
    const all = Array.from({ length: 30 }, (_, row) =>
      unit(Array.from({ length: 384 }, (_, n) => Math.sin((row + 1) * (n + 1) ** 2))),
    );
    const { rows } = await db.pool.query<{ vector: Buffer; product: number }>(
      `select halfvec_send(v::halfvec) as vector, -(v::halfvec <#> $2::halfvec) as product
       from unnest($1::text[]) with ordinality as each (v, nth) order by nth`,
      [all.map((each) => toSql([...each])), toSql(all[0]!)],
    );
    for (const kernel of ["webassembly", "plain"] as const) {
      const held = createVectorStore(kernel).open(384);
      for (const [slot, { vector }] of rows.entries()) held.set(slot, Buffer.from(vector));
      const products = held.products(halfvec(all[0]!));
      for (const [slot, { product }] of rows.entries()) {
        expect(Math.abs(products[slot]! - product)).toBeLessThan(1e-6);
      }
    }
  });
});
