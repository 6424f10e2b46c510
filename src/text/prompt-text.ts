import { clipped, visibleText } from "./storable-text.js";

/** `text` as it may stand inside markup: quoted text cannot open or close the blocks around it, nor hide anything. */
export function escapeMarkup(text: string): string {
  return visibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Attributes of an element in a prompt, in order; those that are null or undefined are left out. */
type Attributes = Readonly<Record<string, string | number | null | undefined>>;

/** `<tag name="value">text</tag>`: how a prompt holds a text of others. */
export function element(tag: string, attributes: Attributes, text: string): string {
  return `<${tag}${written(attributes)}>${escapeMarkup(text)}</${tag}>`;
}

/** `lines`, which are elements or escaped, within a `tag` of their own. */
export function block(tag: string, lines: readonly string[], attributes: Attributes = {}): string {
  return [`<${tag}${written(attributes)}>`, ...lines, `</${tag}>`].join("\n");
}

function written(attributes: Attributes): string {
  return Object.entries(attributes)
    .flatMap(([name, value]) => (value == null ? [] : [` ${name}="${escapeAttribute(`${value}`)}"`]))
    .join("");
}

/** Longest attribute, in characters: names and titles are shorter, and stand beside every message. */
const longestAttribute = 200;

/** `text` as it may stand in an attribute between double quotes, cut where it is too long for one. */
export function escapeAttribute(text: string): string {
  return escapeMarkup(clipped(text, longestAttribute)).replaceAll('"', "&quot;");
}
