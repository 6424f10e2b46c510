import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { localModels } from "../../src/local-embeddings/local-models.js";
import { completeFiles } from "../../src/local-embeddings/model-files.js";
import { freePort, listen } from "../support/free-port.js";
import { rejection } from "../support/rejection.js";

const content = "the bytes of a file".repeat(1_000);
const digest = createHash("sha256").update(content).digest("hex");
const model = {
  ...localModels["bge-small-en-v1.5"],
  files: { "tokenizer.json": digest, "onnx/model_quantized.onnx": digest },
};
const paths = Object.keys(model.files);
const folders = mkdtempSync(join(tmpdir(), "mnemograph-models-"));

let answer: RequestListener;
let port: number;
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  answer(request, response);
});
beforeAll(async () => {
  port = await listen(server);
});
afterEach(() => {
  asked.length = 0;
  vi.unstubAllEnvs();
});
afterAll(() => {
  server.close();
  rmSync(folders, { recursive: true, force: true });
});

/** A folder that has `files`, and a hub that answers by `hub`. */
function source(files: Record<string, string>, hub: RequestListener, mayDownload = true) {
  answer = hub;
  vi.stubEnv("HF_ENDPOINT", `http://127.0.0.1:${port}`);
  const folder = mkdtempSync(join(folders, "model-"));
  mkdirSync(join(folder, "onnx"));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return { model, folder, mayDownload };
}
const contents = (folder: string) =>
  paths.map((path) => existsSync(join(folder, path)) && readFileSync(join(folder, path), "utf8"));

const whole: RequestListener = (_, response) => response.end(content);

describe("the files of a local model", () => {
  it("Missing and damaged files are downloaded from the pinned revision, and whole ones kept", async () => {
    const damaged = source({ "tokenizer.json": content.slice(1) }, whole);
    await completeFiles(damaged);
    expect(contents(damaged.folder)).toEqual([content, content]);
    const base = `/${model.repository}/resolve/${model.revision}/`;
    expect(asked).toEqual(paths.map((path) => base + path));
    await completeFiles(damaged);
    expect(asked).toHaveLength(2);
  });

  it.each<[string, RequestListener, string]>([
    [
      "breaks off",
      (_, response) => {
        response.writeHead(200, { "content-length": content.length });
        response.write(content.slice(0, 100), () => response.destroy());
      },
      "",
    ],
    ["sends another file", (_, response) => response.end("<html>"), "it arrives damaged)"],
    ["lacks the file", (_, response) => response.writeHead(404).end("no"), "status 404)"],
    ["hangs up", (request) => request.socket.destroy(), ""],
  ])(
    "A hub that %s leaves no file, and the error has the command that helps",
    async (_, hub, why) => {
      const empty = source({}, hub);
      const error = await rejection(completeFiles(empty));
      expect(error?.code).toBe("PEER_MISSING");
      const [url] = asked;
      const file = join(empty.folder, "tokenizer.json");
      const command = `curl -fL --create-dirs -o "${file}" ${process.env.HF_ENDPOINT}${url}`;
      expect(error?.message).toContain(`${file} cannot be downloaded (${why}`);
      expect(error?.message).toMatch(/\): run `.*`\.$/);
      expect(error?.message).toContain(command);
      expect(readdirSync(empty.folder, { recursive: true })).toEqual(["onnx"]);
    },
  );

  it("A hub that cannot be reached is named with its address", async () => {
    const empty = source({}, whole);
    const port = await freePort();
    vi.stubEnv("HF_ENDPOINT", `http://127.0.0.1:${port}`);
    await expect(completeFiles(empty)).rejects.toThrow(`(connect ECONNREFUSED 127.0.0.1:${port})`);
  });

  it.each([
    ["misses a file", {}, "is missing: run `curl"],
    ["has half of a file", { "tokenizer.json": content.slice(0, 50) }, "is missing: run `curl"],
    [
      "has a damaged file",
      { "tokenizer.json": content, "onnx/model_quantized.onnx": content.slice(0, -1) },
      "model_quantized.onnx is damaged, or of another model: run `curl",
    ],
  ])("A folder that %s is refused where nothing may be downloaded", async (_, files, message) => {
    await expect(completeFiles(source(files, whole, false))).rejects.toThrow(message);
    expect(asked).toEqual([]);
  });
});
