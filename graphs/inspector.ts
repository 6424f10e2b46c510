import { Hono } from "hono";
import { createMemoryApp } from "../packages/server/src/http/index.js";
import { studioMemory } from "./studio-memory.js";

/**
 * The inspector at /memory/inspector/, in the server's process, which alone may open an embedded
 * database. Under a path of its own: at the root its routes would answer the server's `POST
 * /threads`.
 */
export const app = new Hono().route("/memory", createMemoryApp(studioMemory, { inspector: true }));
