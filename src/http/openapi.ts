import { z } from "zod";
import { described } from "./answers/fields.js";
import { statusOf } from "./route/problem.js";
import { namedIds, nothing, type Route } from "./route/route.js";

type Json = Record<string, unknown>;

/** The description of an app with these `routes`, as OpenAPI 3.1. */
export function openApiDocument(routes: Readonly<Record<string, unknown>>): Json {
  const schemas: Json = { Problem: problemSchema() };
  const paths: Record<string, Json> = {};
  for (const [operationId, route] of Object.entries(routes) as [string, Route][]) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method]: operationOf(operationId, route, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      ...{ title: "Mnemograph", version: "1" },
      description:
        "Long-term memory for agents. Whose memories a call is about, the caller's credentials say; an operator names them " +
        "by `tenantId`, `userId` and `appId` in the query. What is another's is answered as what does not exist.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths: { ...paths, ...probes() },
    components: { schemas, securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
}

function operationOf(operationId: string, route: Route, schemas: Json): Json {
  const { summary, reach, method, streams, versioned } = route;
  const schemaOf = (schema: z.ZodType, io: "input" | "output") => jsonSchema(schema, io, schemas);
  const inLines = { "application/x-ndjson": { schema: { type: "string" } } };
  const body =
    streams === "in"
      ? { requestBody: { required: true, content: inLines } }
      : route.body && {
          requestBody: { content: { "application/json": { schema: schemaOf(route.body, "input") } } },
        };
  const answer =
    streams === "out" ? inLines : { "application/json": { schema: schemaOf(route.answer, "output") } };
  const named =
    reach === "everything" ? [] : reach === "tenant" || reach === "app" ? ["tenantId"] : undefined;
  return {
    ...{ operationId, summary },
    parameters: [
      ...parametersOf("path", schemaOf(route.params ?? nothing, "input")),
      ...parametersOf("query", schemaOf(route.query ?? nothing, "input")),
      ...parametersOf("query", schemaOf(namedIds, "input"), named),
      ...(versioned && method !== "get" ? [ifMatch] : []),
    ],
    ...body,
    responses: {
      200: {
        description: "It went well.",
        ...(versioned && { headers: { ETag: { schema: { type: "string" }, description: "Its revision." } } }),
        content: answer,
      },
      default: {
        description: `What went wrong; \`code\` says what: ${Object.keys(statusOf).join(", ")}, …`,
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

const ifMatch = {
  ...{ name: "If-Match", in: "header", schema: { type: "string" } },
  description: "The ETag of what is to be changed: where that has changed meanwhile, the answer is 412.",
};

function parametersOf(place: "path" | "query", schema: Json, only?: readonly string[]): Json[] {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties)
    .filter(([name]) => only === undefined || only.includes(name))
    .map(([name, { description, ...property }]) => ({
      ...{ name, in: place, required: required.includes(name), schema: property },
      ...(description !== undefined && { description }),
    }));
}

/** `schema` as JSON Schema, whose named parts are added to `schemas`. */
function jsonSchema(schema: z.ZodType, io: "input" | "output", schemas: Json): Json {
  const written = z.toJSONSchema(schema, {
    io,
    metadata: described,
    unrepresentable: "any",
    reused: "inline",
  });
  const text = JSON.stringify(written).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $schema: _, $defs = {}, id, ...own } = JSON.parse(text) as Json & { $defs?: Record<string, Json> };
  for (const [name, { id: __, ...part }] of Object.entries($defs)) schemas[name] = part;
  if (typeof id !== "string") return own;
  schemas[id] = own;
  return { $ref: `#/components/schemas/${id}` };
}

function problemSchema(): Json {
  const text = { type: "string" };
  return {
    type: "object",
    required: ["type", "title", "status", "detail", "code"],
    properties: {
      ...{ type: text, title: text, status: { type: "integer" }, detail: text, code: text },
      current: { description: "What the memory or request is instead." },
    },
  };
}

function probes(): Record<string, Json> {
  const probe = (summary: string) => ({
    get: { summary, security: [], responses: { 200: { description: "Yes." }, 503: { description: "No." } } },
  });
  return { "/healthz": probe("Does the process answer?"), "/readyz": probe("Does its database answer?") };
}
