import { createHash } from "node:crypto";
import type { BaseMessage, ContentBlock, MessageContent } from "@langchain/core/messages";
import { contentParts, withFields } from "./message-text.js";
import { attempt, bytesOf } from "./plain-json.js";
import { clipped, headOf, onOneLine } from "./storable-text.js";

/** A file in a message, in the form of LangChain's standard content blocks. */
export type Attachment = ContentBlock & {
  readonly type: "image" | "audio" | "video" | "file";
  readonly mimeType?: string;
  readonly url?: string;
  /** Base64. */
  readonly data?: string;
  readonly fileId?: string;
  readonly metadata?: { readonly name: string };
};

type CaptionOf = (attachment: Attachment) => string | undefined;

const mostCharacters = { caption: 500, fact: 100, url: 300 };

/** Shorter base64 may also be a number or a name. */
const shortestData = 64;

const fileType = /image|audio|video|file|document|media|resource|inline|text-plain/i;
const bareType = /^(?:input_|output_)?(?:image|audio|video|file|document|media)(?:_url)?$/;
/** Keys of objects within a part that tell of its file. */
const holder =
  /^(?:source|metadata|resource|(?:input_?|inline_?)?(?:image|audio|video|file|document|media|data)(?:_?(?:url|data))?)$/i;
/** Keys of texts that are a file or its address. */
const sourceKey =
  /^(?:source|text|blob|base64|b64_json|result|\w*ur[il]|(?:image|audio|video|file|document)?_?(?:data|bytes)?)$/i;

type Source = Pick<Attachment, "data" | "url" | "fileId" | "mimeType">;
type Leaf = readonly [key: string, value: string | Buffer];

/** The file that `part` is, in the forms of LangChain and of providers. @param key where it was found */
export const attachmentOf = (part: unknown, key?: string): Attachment | null =>
  attempt(() => (isRecord(part) ? readPart(part, key) : null)) ?? null;

function readPart(part: Readonly<Record<string, unknown>>, key = ""): Attachment | null {
  const type = typeof part.type === "string" ? part.type : holder.test(key) ? key : "";
  const isFile = fileType.test(type);
  const leaves = leavesOf(part, isFile);
  const source = sourceAmong(leaves);
  const isOthers = source.data && source.mimeType && typeof part.text !== "string";
  if (!isOthers && !(isFile && (sourceOf(source) || bareType.test(type)))) return null;
  const kind = /^(?:image|audio|video)(?=\/)/.exec(source.mimeType ?? "") ??
    /image|audio|video/i.exec(type) ?? ["file"];
  const name = textAmong(leaves, /^(?:file_?)?name$|^title$/i);
  const format = textAmong(leaves, /^format$/);
  return {
    type: kind[0].toLowerCase() as Attachment["type"],
    ...(format && { mimeType: `${kind[0] === "file" ? "application" : kind[0]}/${format}` }),
    ...source,
    ...(name && { metadata: { name } }),
  };
}

const textAmong = (leaves: readonly Leaf[], keys: RegExp) => leaves.find(([key]) => keys.test(key))?.[1].toString();

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
    return isFile && isRecord(value) && holder.test(key) && depth < 3 ? leavesOf(value, true, depth + 1) : [];
  });
}

function sourceIn(key: string, value: string | Buffer): Source | undefined {
  if (typeof value !== "string") return { data: value.toString("base64") };
  const [head, mimeType, base64] = /^data:([^;,]*)[^,]{0,200}?(;base64)?,/i.exec(value) ?? [];
  if (head !== undefined) {
    const body = value.slice(head.length);
    const data = base64 ? body : Buffer.from(attempt(() => decodeURIComponent(body)) ?? body).toString("base64");
    return { data, ...(mimeType && { mimeType }) };
  }
  if (!sourceKey.test(key)) return undefined;
  const isAddress = /ur[il]$/i.test(key) && value.length < shortestData;
  if (!isAddress && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value)) return { data: value };
  const isUrl = /ur[il]$/i.test(key) || /^[a-z][a-z\d+.-]*:\/\//i.test(value);
  return isUrl ? { url: value } : { data: Buffer.from(value).toString("base64") };
}

/** What the transcript keeps of a file, on one line: never its bytes, nor what a URL may hide. */
export function referenceTo({ type, mimeType, url, data, fileId, metadata }: Attachment, caption?: string): string {
  const bytes = data === undefined ? undefined : Buffer.from(data, "base64");
  const facts = [
    plain(metadata?.name, mostCharacters.fact),
    plain(mimeType, mostCharacters.fact),
    plain(url && publicUrl(url), mostCharacters.url),
    plain(fileId, mostCharacters.fact),
    bytes && `${bytes.length} bytes, sha256:${createHash("sha256").update(bytes).digest("hex")}`,
  ];
  const whole = [plain(caption, mostCharacters.caption), facts.filter(Boolean).join(", ")].filter(Boolean).join("; ");
  return whole === "" ? `[${type}]` : `[${type}: ${whole}]`;
}

function plain(text = "", most: number): string {
  return clipped(
    onOneLine(headOf(text, 4 * most))
      .replaceAll("[", "(")
      .replaceAll("]", ")"),
    most,
  );
}

/** Signed URLs have their secrets in the query, others in front of the host. */
function publicUrl(given: string): string {
  const url = attempt(() => Object.assign(new URL(given), { username: "", password: "", search: "", hash: "" }));
  const whole = url?.href ?? given.split(/[?#]/, 1)[0] ?? "";
  return url?.host ? whole : (whole.split("@").at(-1) ?? "");
}

/** What makes two parts the same file. */
export const sourceOf = ({ data, url, fileId }: Source): string => data ?? url ?? fileId ?? "";

/**
 * `message` with a line of text in the place of each file; itself without files. Files that other fields hold are
 * removed there, and their lines added to the content.
 */
export function withReferences(message: BaseMessage, captionOf: CaptionOf = () => undefined): BaseMessage {
  const known = new Set<string>();
  const lineOf = (file: Attachment) => {
    known.add(sourceOf(file));
    return referenceTo(file, captionOf(file));
  };
  const said = attempt(() => withLines(message.content, lineOf)) ?? message.content;
  const others: Attachment[] = [];
  const fields = ["additional_kwargs", "response_metadata", "artifact"].flatMap((name) => {
    const files: Attachment[] = [];
    const rest = attempt(() => [withoutFiles(Reflect.get(message, name), files)]);
    if (!rest || files.length === 0) return [];
    others.push(...files);
    return [[name, rest[0]]];
  });
  if (said === message.content && fields.length === 0) return message;
  const content = others.reduce((parts: MessageContent, file) => {
    if (known.has(sourceOf(file))) return parts;
    const before = contentParts(parts);
    return [...before, { type: "text", text: `${before.length === 0 ? "" : "\n"}${lineOf(file)}` }];
  }, said);
  return withFields(message, { ...Object.fromEntries(fields), content });
}

/** On lines of their own: LangChain joins texts without a space. */
function withLines(said: MessageContent, lineOf: (file: Attachment) => string): MessageContent {
  if (!Array.isArray(said)) return said;
  const files = said.map((part: unknown) => {
    if (!isRecord(part)) return null;
    return attachmentOf(
      part,
      Object.keys(part).find((key) => holder.test(key) && fileType.test(key)),
    );
  });
  const parts = said.map((part, place) => {
    const file = files[place];
    if (file) {
      const end = place === said.length - 1 || files[place + 1] ? "" : "\n";
      return { type: "text", text: `${place === 0 ? "" : "\n"}${lineOf(file)}${end}` };
    }
    const inner = isRecord(part) ? part.content : undefined;
    const kept = Array.isArray(inner) ? withLines(inner, lineOf) : inner;
    return kept === inner ? part : { ...part, content: kept };
  });
  return parts.every((part, place) => part === said[place]) ? said : (parts as MessageContent);
}

/** Takes files in base64: generated images and recordings, and artifacts of tools. Undefined for a file itself. */
function withoutFiles(value: unknown, files: Attachment[], key?: string, seen = new Map<unknown, unknown>()): unknown {
  const isList = Array.isArray(value);
  if (!isList && !(isRecord(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value)))) return value;
  if (seen.has(value)) return seen.get(value);
  seen.set(value, value);
  const file = attachmentOf(value, key);
  const isBinary = file?.type !== "file" || file.mimeType?.startsWith("application/");
  const isTaken = file?.data !== undefined && isBinary && file.data.length >= shortestData;
  if (isTaken) files.push(file);
  const kept = Object.entries(isTaken ? {} : value)
    .map(([name, inner]) => [name, withoutFiles(inner, files, isList ? key : name, seen)] as const)
    .filter(([, inner]) => inner !== undefined);
  const rest = isTaken ? undefined : isList ? kept.map(([, inner]) => inner) : Object.fromEntries(kept);
  seen.set(value, rest);
  return rest;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
