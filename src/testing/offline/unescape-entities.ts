const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** `text` with XML's named entities resolved, once: `&amp;lt;` becomes `&lt;`. */
export function unescapeEntities(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
