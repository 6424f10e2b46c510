import { createHash } from "node:crypto";
import type { BaseMessage, ContentBlock, MessageContent } from "@langchain/core/messages";
import {
  attempt,
  bytesOf,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonReader,
  propertyOf,
} from "../input/plain-json.js";
import { estimateTokens } from "../text/estimate-tokens.js";
import { clipped, headOf, onOneLine } from "../text/storable-text.js";
import { contentParts, withFields } from "./message-text.js";

/** `data` is base64. */
type Source = Partial<Record<"mimeType" | "url" | "data" | "fileId", string>>;

/** A file in a message, in the form of LangChain's standard content blocks. */
export type Attachment = ContentBlock &
  Source & {
    readonly type: "image" | "audio" | "video" | "file";
    readonly metadata?: { readonly name: string };
  };

type CaptionOf = (attachment: Attachment) => string | undefined;

const maxAttachmentCharacters = { caption: 500, fact: 200 };

/** Shorter base64 may also be a number or a name. */
const longBase64 = /[A-Za-z0-9+/_-]{64}/;

const fileType = /image|audio|video|file|document|media|resource|inline|text-plain/i;
const bareType = /^(?:input_|output_)?(?:image|audio|video|file|document|media)(?:_url)?$/;
/** Keys of objects within a part that describe its file. */
const holder =
  /^(?:source|metadata|resource|(?:input_?|inline_?)?(?:image|audio|video|file|document|media|data)(?:_?(?:url|data))?)$/i;
/** Keys of texts that are a file or its address. */
const sourceKey =
  /^(?:source|text|blob|base64|b64_json|result|\w*ur[il]|(?:image|audio|video|file|document)?_?(?:data|bytes)?)$/i;

const isHint = (key: string) => holder.test(key) && fileType.test(key);

type Leaf = readonly [key: string, value: string | Buffer];

/** The file that `part` of a message's content is, in the forms of LangChain and of providers. */
export const attachmentOf = (part: unknown): Attachment | null =>
  attempt(() => readPart(isJsonObject(part) && part.type === "non_standard" ? part.value : part)) ??
  null;

/** A file has a dozen keys; values of applications may have 100,000. */
const maxFileKeys = 1_000;

/** Quickly: a message may have 100,000 parts, nearly all of them bare text. */
function isNoFile(part: JsonObject): boolean {
  const { length } = Object.keys(part);
  return length > maxFileKeys || (length === 2 && part.type === "text" && isText(part.text));
}

const isText = (value: unknown): value is string => typeof value === "string";

const readPart = (part: unknown, at?: string) =>
  isJsonObject(part) && !isNoFile(part) ? fileIn(part, at) : null;

/** @param at the key where it was found. @default its own first one that describes a file */
function fileIn(part: JsonObject, at: string | undefined): Attachment | null {
  const key = at ?? Object.keys(part).find(isHint) ?? "";
  const type = isText(part.type) ? part.type : isHint(key) ? key : "";
  const isFile = fileType.test(type);
  const leaves = leavesOf(part, isFile);
  const source = sourceAmong(leaves);
  const isOthers = source.data && source.mimeType && typeof part.text !== "string";
  if (!isOthers && !(isFile && (sourceOf(source) || bareType.test(type)))) return null;
  const [kind] = /^(?:image|audio|video)(?=\/)/.exec(source.mimeType ?? "") ??
    /image|audio|video/i.exec(type) ?? ["file"];
  const name = textAmong(leaves, /^(?:file_?)?name$|^title$/i);
  const format = textAmong(leaves, /^format$/)?.match(/^[\w.+-]{1,50}$/);
  return {
    type: kind.toLowerCase() as Attachment["type"],
    ...(format && { mimeType: `${kind === "file" ? "application" : kind}/${format}` }),
    ...source,
    ...(name && { metadata: { name } }),
  };
}

function textAmong(leaves: readonly Leaf[], keys: RegExp): string | undefined {
  const [, text] = leaves.find(([key, value]) => keys.test(key) && typeof value === "string") ?? [];
  return /^data:/i.test(`${text}`) ? undefined : (text as string | undefined);
}

function sourceAmong(leaves: readonly Leaf[]): Source {
  const id = textAmong(leaves, /^source_type$/) === "id" ? /^(?:file_?)?id$/i : /^file_?id$/i;
  const fileId = textAmong(leaves, id);
  const content = leaves.flatMap(([key, value]) => sourceIn(key, value) ?? [])[0];
  const mimeType = textAmong(leaves, /^(?:mime|media)_?type$/i);
  return { ...(content ?? (fileId ? { fileId } : {})), ...(mimeType && { mimeType }) };
}

function leavesOf(part: object, isFile: boolean, depth = 0): Leaf[] {
  return Object.entries(part).flatMap(([key, value]): Leaf[] => {
    const leaf: unknown = value instanceof URL ? value.href : (bytesOf(value) ?? value);
    if (typeof leaf === "string" || leaf instanceof Buffer) return [[key, leaf]];
    return isFile && isJsonObject(value) && holder.test(key) && depth < 3
      ? leavesOf(value, true, depth + 1)
      : [];
  });
}

function sourceIn(key: string, value: string | Buffer): Source | undefined {
  if (typeof value !== "string") return { data: value.toString("base64") };
  const [head, mimeType, base64] = /^data:([^;,]{0,200})[^,]{0,200}?(;base64)?,/i.exec(value) ?? [];
  if (head !== undefined) {
    const body = value.slice(head.length);
    const data = base64
      ? body
      : Buffer.from(attempt(() => decodeURIComponent(body)) ?? body).toString("base64");
    return { data, ...(mimeType && { mimeType }) };
  }
  if (!sourceKey.test(key)) return undefined;
  const isShort = /ur[il]$/i.test(key) && value.length < 64;
  if (!isShort && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value)) return { data: value };
  const isUrl = /ur[il]$/i.test(key) || /^[a-z][a-z\d+.-]*:\/\//i.test(value);
  return isUrl ? { url: value } : { data: Buffer.from(value).toString("base64") };
}

/** Parsers of URLs need no slashes after these. */
const urlForm = /:\/\/|^\s*(?:https?|wss?|ftp|javascript):/i;

/** What the transcript keeps of a file, on one line: never its bytes, nor what a URL may hide. */
export function referenceTo(
  { type, mimeType, url, data, fileId, metadata }: Attachment,
  caption?: string,
): string {
  const bytes = data === undefined ? undefined : Buffer.from(data, "base64");
  const facts = [metadata?.name, mimeType, url && publicUrl(url), fileId].map((fact) =>
    plain(fact && urlForm.test(fact) ? publicUrl(fact) : fact, maxAttachmentCharacters.fact),
  );
  if (bytes)
    facts.push(`${bytes.length} bytes, sha256:${createHash("sha256").update(bytes).digest("hex")}`);
  const parts = [plain(caption, maxAttachmentCharacters.caption), facts.filter(Boolean).join(", ")];
  const whole = parts.filter(Boolean).join("; ");
  return whole === "" ? `[${type}]` : `[${type}: ${whole}]`;
}

/** As `referenceTo` writes them: no caption has brackets. */
const reference = /\[(?:image|audio|video|file): [^[\]]*\]/g;

/** The writer's own words in a recorded message, and the references to its files. */
export function splitReferences(text: string): {
  readonly own: string;
  readonly references: string;
} {
  return {
    own: text.replaceAll(reference, " "),
    references: (text.match(reference) ?? []).join("\n"),
  };
}

function plain(text = "", most: number): string {
  const head = headOf(text, 4 * most)
    .replaceAll("[", "(")
    .replaceAll("]", ")");
  return clipped(onOneLine(head), most);
}

/** Signed URLs have their secrets in the query, others in front of the host. */
function publicUrl(given: string): string {
  const url = attempt(() =>
    Object.assign(new URL(given), { username: "", password: "", search: "", hash: "" }),
  );
  const whole = url?.href ?? given.split(/[?#]/, 1)[0] ?? "";
  if (url?.protocol === "javascript:") return url.protocol;
  return url?.host ? whole : (whole.split("@").at(-1) ?? "");
}

/** What makes two parts the same file. */
export const sourceOf = ({ data, url, fileId }: Source): string => data ?? url ?? fileId ?? "";

/** The files in `message`. */
export function filesIn(message: BaseMessage): Attachment[] {
  const files: Attachment[] = [];
  withReferences(message, (file) => void files.push(file));
  return files;
}

/**
 * `message` with a line of text in the place of each file; itself without files. Files that other
 * fields hold are removed there, and their lines added to the content.
 */
export function withReferences(
  message: BaseMessage,
  captionOf: CaptionOf = () => undefined,
): BaseMessage {
  const lines = new Map<string, string>();
  const lineOf = (file: Attachment) => {
    const line = referenceTo(file, captionOf(file));
    lines.set(sourceOf(file), line);
    return line;
  };
  // The lines of the content's own files stand in their places.
  const said = attempt(() => withLines(message.content, lineOf)) ?? message.content;
  const known = lines.size;
  const fields: Record<string, unknown> = {};
  for (const name of ["additional_kwargs", "response_metadata", "artifact", "metadata"]) {
    const value = propertyOf(message, name);
    const rest = withoutFiles(value, lineOf);
    if (rest !== value) fields[name] = rest;
  }
  if (said === message.content && Object.keys(fields).length === 0) return message;
  // Those of other files follow.
  const added = [...lines.values()].slice(known).join("\n");
  if (added === "") return withFields(message, { ...fields, content: said });
  const before = contentParts(said ?? "");
  const text = before.length === 0 ? added : `\n${added}`;
  return withFields(message, { ...fields, content: [...before, { type: "text", text }] });
}

/** On lines of their own: LangChain joins texts without a space. */
function withLines(said: MessageContent, lineOf: (file: Attachment) => string): MessageContent {
  if (!Array.isArray(said)) return isJsonObject(said) ? withLines([said as never], lineOf) : said;
  const files = said.map(attachmentOf);
  const parts = said.map((part, place) => {
    const [file, next] = files.slice(place, place + 2);
    const end = next === null ? "\n" : "";
    if (file) return { type: "text", text: `${place === 0 ? "" : "\n"}${lineOf(file)}${end}` };
    const inner = isJsonObject(part) ? part.content : undefined;
    const kept = Array.isArray(inner) ? withLines(inner as never, lineOf) : inner;
    return kept === inner ? part : { ...part, content: kept };
  });
  return parts.every((part, place) => part === said[place]) ? said : (parts as MessageContent);
}

/**
 * `value` without bytes, and without files in base64: generated images and recordings, and
 * artifacts of tools.
 */
function withoutFiles(value: unknown, take: (file: Attachment) => void): unknown {
  let hasFiles = false;
  // Changes the copy that `jsonReader` made: it may have 200,000 values.
  const rest = (inner: Json | undefined, key: string): Json | undefined => {
    const isBytes = typeof inner === "string" && inner.startsWith(bytesPrefix);
    const file: Attachment | null = isBytes
      ? { type: "file", data: inner.slice(bytesPrefix.length) }
      : readPart(inner, key);
    const isBinary = file?.type !== "file" || file.mimeType?.startsWith("application/");
    if (file?.data && (isBytes || (isBinary && longBase64.test(file.data)))) {
      hasFiles = true;
      take(file);
      return undefined;
    }
    if (Array.isArray(inner))
      return inner.map((each) => rest(each, "")).filter((each) => each !== undefined);
    return isJsonObject(inner) ? changeValues(inner, rest) : inner;
  };
  const kept = rest(jsonReader(bytesPrefix)(value), "");
  return hasFiles ? kept : value;
}

function changeValues(
  object: JsonObject,
  change: (value: Json | undefined, key: string) => Json | undefined,
): JsonObject {
  for (const key of Object.keys(object)) {
    const value = object[key];
    const kept = change(value, key);
    if (kept === undefined) delete object[key];
    else if (kept !== value) object[key] = kept;
  }
  return object;
}

const bytesPrefix = "data:;base64,";

/** Anthropic's maximum for an image. */
const fileTokens = 1_600;

/** Of the parts that are no text, without the base64 in files. */
export function otherTokens(content: MessageContent): number {
  let tokens = 0;
  for (const part of Array.isArray(content) ? content : []) {
    if (!isJsonObject(part) || typeof part.text === "string") continue;
    tokens += attachmentOf(part) ? fileTokens : estimateTokens(JSON.stringify(part));
  }
  return tokens;
}
