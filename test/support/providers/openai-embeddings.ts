import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { OpenAIEmbeddings } from "@langchain/openai";
import { afterEach } from "vitest";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { listen } from "../free-port.js";
import { openAIError, openAIFailure } from "./openai.js";
import type { Refusal } from "./provider.js";
import { tokensIn } from "./token-usage.js";

interface EmbeddingsBody {
  readonly model: string;
  readonly input: string | readonly string[];
  readonly dimensions?: number;
  readonly encoding_format?: "float" | "base64";
}

/** In tokens, of a text and of a request. */
interface Limits {
  readonly text?: number;
  readonly request?: number;
}

const maxDimensions: Record<string, number> = {
  "text-embedding-3-small": 1_536,
  "text-embedding-3-large": 3_072,
};

/** @see https://platform.openai.com/docs/api-reference/embeddings/create for the limits */
function refusalOf(
  { model, dimensions }: EmbeddingsBody,
  texts: readonly string[],
  { text: maxOfText = 8_192, request: maxOfAll = 300_000 }: Limits,
): Refusal | null {
  if (texts.length > 2_048)
    return openAIError(
      `Invalid 'input': array too long. Expected an array with maximum length 2048, but got an array with length ${texts.length} instead.`,
      "input",
      "array_above_max_length",
    );
  const empty = texts.indexOf("");
  if (empty >= 0)
    return openAIError(`Invalid 'input[${empty}]': input cannot be an empty string.`, "input");
  const most = maxDimensions[model];
  if (dimensions !== undefined && most === undefined)
    return openAIError("This model does not support specifying dimensions.");
  if (dimensions !== undefined && dimensions > Number(most))
    return openAIError(
      `Invalid value for 'dimensions' = ${dimensions}. Must be less than or equal to ${most}.`,
      "dimensions",
    );
  const tokens = texts.map(tokensIn);
  const longest = Math.max(...tokens);
  if (longest > maxOfText)
    return openAIError(
      `This model's maximum context length is ${maxOfText} tokens, however you requested ${longest} tokens (${longest} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`,
    );
  const all = tokens.reduce((sum, each) => sum + each, 0);
  // https://community.openai.com/t/max-total-embeddings-tokens-per-request/1254699
  if (all > maxOfAll)
    return openAIError(
      `Requested ${all} tokens, max ${maxOfAll} tokens per request`,
      null,
      "max_tokens_per_request",
      { type: "max_tokens_per_request" },
    );
  return null;
}

/** Fails the request with a status, and with 429 says when to come again. */
type Outage = { readonly status: number; readonly retryAfterSeconds?: number } | null;

/** Starts OpenAI's embeddings, which end with the test. `script` gets the number of texts. */
export function useOpenAIEmbeddings() {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });
  return async (
    script: (count: number, request: number) => Outage = () => null,
    limits: Limits = {},
  ) => {
    /** How many texts each request had, with "!" where it was refused or failed. */
    const requests: string[] = [];
    const answer = async (body: EmbeddingsBody) => {
      const texts = [body.input].flat();
      const outage = script(texts.length, requests.length);
      const refused = outage
        ? openAIFailure(outage.status, outage.retryAfterSeconds ?? 0)
        : refusalOf(body, texts, limits);
      requests.push(`${texts.length}${refused ? "!" : ""}`);
      if (refused) return refused;
      const { dimensions = maxDimensions[body.model] ?? 1_536 } = body;
      const vectors = await new HashingEmbeddings({ dimensions }).embedDocuments(texts);
      const data = vectors.map((vector, index) => {
        const bytes = Buffer.from(Float32Array.from(vector).buffer).toString("base64");
        const embedding = body.encoding_format === "base64" ? bytes : vector;
        return { object: "embedding", index, embedding };
      });
      return { status: 200, headers: {}, body: { object: "list", model: body.model, data } };
    };
    const server = createServer(async (incoming, response) => {
      const { status, headers, body } = await answer(JSON.parse(await text(incoming)));
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    });
    servers.push(server);
    const baseURL = `http://127.0.0.1:${await listen(server)}/v1`;
    const embeddings = (options: object = {}) =>
      new OpenAIEmbeddings({
        apiKey: "none",
        model: "text-embedding-3-small",
        configuration: { baseURL },
        ...options,
      });
    return { embeddings, requests, baseURL };
  };
}
