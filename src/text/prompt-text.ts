import { clipped, visibleText } from "./storable-text.js";

/** `text` escaped for markup, with nothing invisible in it. */
export function escapeMarkup(text: string): string {
  return visibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** In order; null and undefined are omitted. */
type Attributes = Readonly<Record<string, string | number | null | undefined>>;

export function element(tag: string, attributes: Attributes, text: string): string {
  return `<${tag}${written(attributes)}>${escapeMarkup(text)}</${tag}>`;
}

/** `lines`, already escaped, within a `tag`. */
export function block(tag: string, lines: readonly string[], attributes: Attributes = {}): string {
  return [`<${tag}${written(attributes)}>`, ...lines, `</${tag}>`].join("\n");
}

function written(attributes: Attributes): string {
  return Object.entries(attributes)
    .flatMap(([name, value]) => (value == null ? [] : [` ${name}="${escapeAttribute(`${value}`)}"`]))
    .join("");
}

const longestAttribute = 200;

/** Between double quotes, cut to 200 characters: names and titles are shorter, and accompany every message. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(clipped(text, longestAttribute)).replaceAll('"', "&quot;");
}
