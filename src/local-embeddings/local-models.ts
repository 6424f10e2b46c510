export const tokenizerFile = "tokenizer.json";
export const weightsFile = "onnx/model_quantized.onnx";

/** A revision of a repository on the hub, and how its vectors are made. */
export interface LocalModel {
  readonly repository: string;
  readonly revision: string;
  /** The SHA-256 of each file: a vector does not depend on where the files are from. */
  readonly files: Readonly<Record<typeof tokenizerFile | typeof weightsFile, string>>;
  /** Whether a text's vector is that of its first token, or the mean of all. */
  readonly pooling: "first" | "mean";
  /** What the model was trained to read before a question and before a statement. */
  readonly prefixes: { readonly question: string; readonly statement: string };
}

/** Both have 384 dimensions, weights in int8, and the MIT licence. */
export const localModels = {
  /** @see https://huggingface.co/BAAI/bge-small-en-v1.5 */
  "bge-small-en-v1.5": {
    repository: "Xenova/bge-small-en-v1.5",
    revision: "ea104dacec62c0de699686887e3f920caeb4f3e3",
    files: {
      [tokenizerFile]: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
      [weightsFile]: "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    },
    pooling: "first",
    prefixes: {
      question: "Represent this sentence for searching relevant passages: ",
      statement: "",
    },
  },
  /** @see https://huggingface.co/intfloat/multilingual-e5-small */
  "multilingual-e5-small": {
    repository: "Xenova/multilingual-e5-small",
    revision: "761b726dd34fb83930e26aab4e9ac3899aa1fa78",
    files: {
      [tokenizerFile]: "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
      [weightsFile]: "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
    },
    pooling: "mean",
    prefixes: { question: "query: ", statement: "passage: " },
  },
} satisfies Record<string, LocalModel>;

export type LocalModelName = keyof typeof localModels;

/** The model for texts in a text search configuration of PostgreSQL. */
export const modelForLanguage = (language: string): LocalModelName =>
  language === "english" ? "bge-small-en-v1.5" : "multilingual-e5-small";
