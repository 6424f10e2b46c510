// The conformance suite is written for Node 22, of which it needs `globSync`, in scenarios of
// clients: Node 20 gets an empty one. Imported by mcp-conformance.ts.
import { register } from "node:module";

const files =
  'export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];';
const url = JSON.stringify(`data:text/javascript,${encodeURIComponent(files)}`);
const hooks = `export const resolve = (name, context, next) =>
  name === "fs" && context.parentURL?.includes("modelcontextprotocol/conformance")
    ? { url: ${url}, shortCircuit: true }
    : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
