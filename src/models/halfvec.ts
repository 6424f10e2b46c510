/** Bytes in front of the numbers: how many there are (16 bits), and 16 bits that are always 0. */
const headBytes = 4;

/**
 * `vector` as pgvector's `halfvec` sends and receives it: bound as a parameter it need not be read from its text.
 *
 * The numbers are rounded as pgvector rounds them when it reads text: to single precision, then to half precision.
 */
export function halfvec(vector: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + 2 * vector.length);
  bytes.writeUInt16BE(vector.length, 0);
  bytes.writeUInt16BE(0, 2);
  for (const [index, value] of vector.entries()) bytes.writeUInt16BE(half(value), headBytes + 2 * index);
  return bytes;
}

/** Numbers below this have no leading 1 in half precision: they are multiples of its smallest number. */
const leastNormal = 2 ** -14;
const smallest = 2 ** -24;

/** `value`, −1 to 1, as the bits of a number of half precision: a sign, 5 bits of exponent, 10 of fraction. */
function half(value: number): number {
  const single = Math.fround(value);
  const sign = value < 0 ? 0x8000 : 0;
  const size = Math.abs(single);
  // Rounded up to the next power of two, fraction and exponent carry over as they should.
  if (size < leastNormal) return sign + toEven(size / smallest);
  const exponent = Math.min(0, Math.floor(Math.log2(size)));
  return sign + ((exponent + 15) << 10) + toEven((size / 2 ** exponent - 1) * 1024);
}

/** The nearest whole number; of two that are as near, the even one. */
function toEven(value: number): number {
  const below = Math.floor(value);
  const over = value - below;
  return below + (over > 0.5 || (over === 0.5 && below % 2 === 1) ? 1 : 0);
}
