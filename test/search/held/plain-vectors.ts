import type { HeldVectors } from "../../../src/search/held/held-vectors.js";

/** Vectors as numbers in a list: what any other way of keeping them is to do as well. */
export function plainVectors(): HeldVectors {
  const vectors: (number[] | undefined)[] = [];
  return {
    set(slot, halfvec) {
      vectors[slot] = numbersOf(halfvec);
    },
    clear(slot) {
      vectors[slot] = undefined;
    },
    products(question) {
      const asked = numbersOf(question);
      return Float32Array.from(vectors, (vector) =>
        (vector ?? []).reduce((sum, value, place) => sum + value * (asked[place] as number), 0),
      );
    },
    get bytes() {
      return vectors.reduce((bytes, vector) => bytes + 8 * (vector?.length ?? 0), 0);
    },
    release() {
      vectors.length = 0;
    },
  };
}

/** The numbers of a vector as pgvector sends it. */
function numbersOf(halfvec: Buffer): number[] {
  return Array.from({ length: halfvec.readUInt16BE(0) }, (_, place) =>
    half(halfvec.readUInt16BE(4 + 2 * place)),
  );
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 31, (bits & 1023) / 1024];
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15));
}
