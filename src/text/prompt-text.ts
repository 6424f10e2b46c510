import { clipped, visibleText } from "./storable-text.js";

export function escapeMarkup(text: string): string {
  return visibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** In order; null and undefined are omitted. */
type Attributes = Readonly<Record<string, string | number | null | undefined>>;

export function element(tag: string, attributes: Attributes, text: string): string {
  return `<${tag}${written(attributes)}>${escapeMarkup(text)}</${tag}>`;
}

export function block(tag: string, lines: readonly string[], attributes: Attributes = {}): string {
  return [`<${tag}${written(attributes)}>`, ...lines, `</${tag}>`].join("\n");
}

function written(attributes: Attributes): string {
  return Object.entries(attributes)
    .flatMap(([name, value]) => (value == null ? [] : [` ${name}="${escapeAttribute(`${value}`)}"`]))
    .join("");
}

const longestAttribute = 200;

/** Escapes for double quotes and cuts to 200 characters: long names would be repeated with every message. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(clipped(text, longestAttribute)).replaceAll('"', "&quot;");
}
