import { afterAll, afterEach } from "vitest";
import { guardLoopback } from "./loopback-guard.js";

// Fails each test that reaches another machine, except the database under test.
const { DATABASE_URL } = process.env;
const guard = guardLoopback(DATABASE_URL ? [new URL(DATABASE_URL).hostname] : []);
afterEach(guard.check);
afterAll(guard.end);
