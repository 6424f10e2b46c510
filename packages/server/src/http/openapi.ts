import type { z } from "zod";
import { ownerIdFields } from "../operations/caller.js";
import { jsonSchemaOf } from "../operations/fields.js";
import type { Operation } from "../operations/operation.js";
import { operationList } from "../operations/operations.js";
import { httpStatuses } from "./problem.js";
import { requestParts } from "./read-request.js";

type JsonObject = Record<string, unknown>;
type Io = "input" | "output";

let made: JsonObject | undefined;

/** Made once: it takes some 50 ms, and everybody may ask for it. */
export function openApiDocument(): JsonObject {
  made ??= makeDocument();
  return made;
}

function makeDocument(): JsonObject {
  const schemas: JsonObject = { Problem: problemSchema };
  const paths: Record<string, JsonObject> = {};
  for (const [name, operation] of operationList) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method]: describe(name, operation, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Mnemograph",
      version: "1",
      description:
        "Long-term memory for agents. The caller's credentials determine the owner of the memories; an operator names it " +
        "by `tenantId`, `userId` and `appId` in the query. Another owner's data look as if they did not exist.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths: { ...paths, ...probes },
    components: { schemas, securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
}

/** Ids that an operator may name. @default all */
const namedOf: Partial<Record<Operation["reach"], readonly string[]>> = {
  everything: [],
  tenant: ["tenantId"],
  app: ["tenantId"],
};

function describe(operationId: string, operation: Operation, schemas: JsonObject): JsonObject {
  const { does: summary, reach, method, lines, versioned } = operation;
  const { path, query, body } = requestParts(operation);
  const schemaOf = (schema: z.ZodType, io: Io = "input") => jsonSchema(schema, io, schemas);
  const inLines = { "application/x-ndjson": { schema: { type: "string" } } };
  const inJson = (schema: z.ZodType, io: Io) => ({
    "application/json": { schema: schemaOf(schema, io) },
  });
  const hasBody = Object.keys(body.shape).length > 0;
  return {
    operationId,
    summary,
    parameters: [
      ...parametersOf("path", schemaOf(path)),
      ...parametersOf("query", schemaOf(query)),
      ...parametersOf("query", schemaOf(ownerIdFields), namedOf[reach]),
      ...(versioned && method !== "get" ? [ifMatch] : []),
    ],
    ...(lines === "in" && { requestBody: { required: true, content: inLines } }),
    ...(hasBody && { requestBody: { content: inJson(body, "input") } }),
    responses: {
      200: {
        description: "Success.",
        ...(versioned && {
          headers: { ETag: { schema: { type: "string" }, description: "Its revision." } },
        }),
        content: lines === "out" ? inLines : inJson(operation.answer, "output"),
      },
      default: {
        description: `What went wrong; \`code\` says what: ${Object.keys(httpStatuses).join(", ")}, …`,
        content: {
          "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
        },
      },
    },
  };
}

const ifMatch = {
  name: "If-Match",
  in: "header",
  schema: { type: "string" },
  description: "The ETag of the version that this changes. A newer version answers 412.",
};

function parametersOf(
  place: "path" | "query",
  schema: JsonObject,
  only?: readonly string[],
): JsonObject[] {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties)
    .filter(([name]) => only === undefined || only.includes(name))
    .map(([name, { description, ...property }]) => ({
      name,
      in: place,
      required: required.includes(name),
      schema: property,
      ...(description !== undefined && { description }),
    }));
}

function jsonSchema(schema: z.ZodType, io: Io, schemas: JsonObject): JsonObject {
  const text = JSON.stringify(jsonSchemaOf(schema, io)).replaceAll(
    '"#/$defs/',
    '"#/components/schemas/',
  );
  const {
    $schema: _,
    $defs = {},
    id,
    ...own
  } = JSON.parse(text) as JsonObject & { $defs?: Record<string, JsonObject> };
  for (const [name, { id: __, ...part }] of Object.entries($defs)) schemas[name] = part;
  if (typeof id !== "string") return own;
  schemas[id] = own;
  return { $ref: `#/components/schemas/${id}` };
}

const textSchema = { type: "string" };

const problemSchema = {
  type: "object",
  required: ["type", "title", "status", "detail", "code"],
  properties: {
    type: textSchema,
    title: textSchema,
    status: { type: "integer" },
    detail: textSchema,
    code: textSchema,
    current: { description: "The memory or request as it is now." },
  },
};

const probe = (summary: string) => ({
  get: {
    summary,
    security: [],
    responses: { 200: { description: "Yes." }, 503: { description: "No." } },
  },
});
const probes = {
  "/healthz": probe("Does the process answer?"),
  "/readyz": probe("Does its database answer?"),
};
