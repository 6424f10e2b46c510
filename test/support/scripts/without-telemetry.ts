/** Works within spans where OpenTelemetry is not installed. Prints what the work saw and gave. */
import { register } from "node:module";

const hooks = `export async function resolve(specifier, context, next) {
  if (specifier.startsWith("@opentelemetry/")) throw new Error("Cannot find package " + specifier);
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const installed = await import("@opentelemetry/api").then(
  () => "installed",
  () => "missing",
);
console.log(installed);

const { withSpan } = await import("../../../src/composition/observe.js");
const seen = await withSpan("a", async (set) => set !== null);
console.log(`recording: ${seen}`);
await withSpan("b", async () => {
  throw new Error("its own");
}).catch((error: Error) => console.log(`error: ${error.message}`));
const before = process.cpuUsage();
for (let index = 0; index < 10_000; index++) await withSpan("c", async () => index);
const { user, system } = process.cpuUsage(before);
console.log(`microseconds each: ${Math.round((user + system) / 10_000)}`);
