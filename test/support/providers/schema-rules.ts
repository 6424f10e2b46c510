export type Schema = { readonly [keyword: string]: unknown };

/** What a provider says of a schema or subschema; null where it takes it. */
export type SchemaRule = (schema: Schema, path: readonly string[]) => string | null;

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;

/** The schemas under a keyword, each with its path from there. */
function schemasUnder(keyword: string, value: unknown): [string[], unknown][] {
  if (/^(enum|const|default|examples?|required|type)$/.test(keyword)) return [];
  const isList = Array.isArray(value) || /^(properties|patternProperties|\$defs)$/.test(keyword);
  if (!isList) return [[[keyword], value]];
  return Object.entries(value ?? {}).map(([name, inner]) => [[keyword, name], inner]);
}

/** What is wrong with the first schema that breaks `rule`, from the root inwards. */
export function schemaFault(
  schema: unknown,
  rule: SchemaRule,
  path: readonly string[] = [],
): string | null {
  if (!isSchema(schema)) return null;
  const fault = rule(schema, path);
  if (fault) return fault;
  const inner = Object.entries(schema).flatMap(([keyword, value]) => schemasUnder(keyword, value));
  for (const [place, subschema] of inner) {
    const found = schemaFault(subschema, rule, [...path, ...place]);
    if (found) return found;
  }
  return null;
}

/** The keywords of the space-separated `list` that the schema uses. */
export const keywordsIn = (schema: Schema, list: string): string[] =>
  list.split(" ").filter((keyword) => keyword in schema);

/**
 * Strict mode of OpenAI: objects are closed, all their fields required.
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
export const strictSchemaRule: SchemaRule = (schema, path) => {
  const quoted = path.map((part) => (/^\d+$/.test(part) ? part : `'${part}'`));
  const place = `In context=(${quoted.join(", ")})`;
  const [keyword] = keywordsIn(
    schema,
    "allOf oneOf not if then else dependentRequired dependentSchemas default patternProperties propertyNames uniqueItems",
  );
  if (keyword) return `${place}, '${keyword}' is not permitted.`;
  if (path.length === 0 && schema.type !== "object")
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${schema.type ?? "None"}"'.`;
  if (schema.type !== "object") return null;
  if (schema.additionalProperties !== false)
    return `${place}, 'additionalProperties' is required to be supplied and to be false.`;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = Object.keys(schema.properties ?? {}).find((name) => !required.includes(name));
  if (missing === undefined) return null;
  return `${place}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
};
