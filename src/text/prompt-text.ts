import { clipped, visibleText } from "./storable-text.js";

export const escapeMarkup = (text: string): string =>
  visibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

type Attributes = Readonly<Record<string, string | number | null | undefined>>;

export const element = (tag: string, attributes: Attributes, text: string): string =>
  `<${tag}${written(attributes)}>${escapeMarkup(text)}</${tag}>`;

export const block = (tag: string, lines: readonly string[], attributes: Attributes = {}): string =>
  [`<${tag}${written(attributes)}>`, ...lines, `</${tag}>`].join("\n");

const written = (attributes: Attributes): string =>
  Object.entries(attributes)
    .filter(([, value]) => value != null)
    .map(([name, value]) => ` ${name}="${escapeAttribute(`${value}`)}"`)
    .join("");

const maxAttributeCharacters = 200;

/**
 * Escapes for double quotes and cuts to 200 characters: long names would be repeated with every
 * message.
 */
export const escapeAttribute = (text: string): string =>
  escapeMarkup(clipped(text, maxAttributeCharacters)).replaceAll('"', "&quot;");
