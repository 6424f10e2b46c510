import { Embeddings, type EmbeddingsParams } from "@langchain/core/embeddings";
import { isStopWord, plainWordsOf, stem } from "./offline/words.js";

export interface HashingEmbeddingsParams extends EmbeddingsParams {
  /** Length of the vectors. @default 384, that of the common small sentence encoders */
  readonly dimensions?: number;
}

const weights = { word: 1, stopWord: 0.1, pair: 0.5, part: 0.9 };

/**
 * A stand-in for an embedding model: texts that share words or parts of words are near each other.
 * It knows no meaning: "car" and "automobile" are unrelated. Each feature (stemmed words, pairs of
 * words, 3- and 4-letter parts) adds ±weight to one dimension; its hash chooses both. Vectors have
 * length 1 and are the same on every machine. A text without features gets one fixed vector.
 * @see Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009: why the
 * sign is hashed too
 */
export class HashingEmbeddings extends Embeddings {
  /** Change it whenever the vectors change. */
  readonly model = "hashing-1";
  readonly dimensions: number;

  /** @throws RangeError if `dimensions` is not a positive integer */
  constructor({ dimensions = 384, ...params }: HashingEmbeddingsParams = {}) {
    super(params);
    if (!Number.isInteger(dimensions) || dimensions < 1)
      throw new RangeError(`dimensions must be a positive integer, not ${dimensions}.`);
    this.dimensions = dimensions;
  }

  override async embedDocuments(documents: string[]): Promise<number[][]> {
    return documents.map((document) => this.#embed(document));
  }

  override async embedQuery(document: string): Promise<number[]> {
    return this.#embed(document);
  }

  #embed(text: string): number[] {
    const vector = new Array<number>(this.dimensions).fill(0);
    for (const [feature, weight] of featuresOf(text)) {
      const bits = hash(feature);
      const index = (bits >>> 1) % this.dimensions;
      vector[index] = (vector[index] ?? 0) + (bits & 1 ? weight : -weight);
    }
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    if (length > 0) return vector.map((value) => value / length);
    // Cosine distance to a zero vector is not a number.
    vector[0] = 1;
    return vector;
  }
}

function* featuresOf(text: string): Generator<[feature: string, weight: number]> {
  const words = plainWordsOf(text).map((word) => ({
    stem: stem(word),
    isStopWord: isStopWord(word),
  }));
  // Texts of symbols only, such as emoji, differ as well.
  if (words.length === 0 && text.trim() !== "") yield [`text:${text.trim()}`, weights.word];

  for (const [position, word] of words.entries()) {
    const next = words[position + 1];
    const bothStop = word.isStopWord && next?.isStopWord;
    if (next) yield [`pair:${word.stem} ${next.stem}`, bothStop ? weights.stopWord : weights.pair];
    yield [`word:${word.stem}`, word.isStopWord ? weights.stopWord : weights.word];
    if (word.isStopWord) continue;
    const parts = letterParts(word.stem);
    // All parts of a word together weigh `part`, however long it is.
    for (const part of parts) yield [`part:${part}`, weights.part / Math.sqrt(parts.length)];
  }
}

function letterParts(word: string): string[] {
  const letters = [..."<", ...word, ...">"];
  return [3, 4].flatMap((size) =>
    Array.from({ length: Math.max(0, letters.length - size + 1) }, (_, start) =>
      letters.slice(start, start + size).join(""),
    ),
  );
}

/** FNV-1a with the finaliser of MurmurHash3: FNV's own low bits are too regular for a sign. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
