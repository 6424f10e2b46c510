/**
 * Runs `mnemograph` once for each message from its parent, all in this process: the program itself,
 * whose every module but the first is loaded once. Only what a process gives a program is lent to
 * it.
 *
 * A message is the arguments; the answer is `{ code, out, err }`.
 */
const main = new URL("../../../packages/server/src/cli/main.js", import.meta.url).href;
const [node = "", script = ""] = process.argv;
const exit = process.exit.bind(process);
let runs = 0;
let last: Promise<unknown> = Promise.resolve();

process.on("message", (args: string[]) => {
  last = last.then(() => run(args)).then((ended) => process.send?.(ended));
});
process.on("disconnect", () => exit());

async function run(args: string[]) {
  const printed = { out: "", err: "" };
  const write = (to: keyof typeof printed) =>
    ((text: string, done?: () => void) => {
      printed[to] += text;
      if (done) setImmediate(done);
      return true;
    }) as typeof process.stdout.write;
  process.stdout.write = write("out");
  process.stderr.write = write("err");
  process.argv = [node, script, ...args];
  process.exitCode = undefined;
  const exited = new Promise<number>((resolve) => {
    process.exit = ((code?: number) =>
      resolve(Number(code ?? process.exitCode ?? 0))) as typeof process.exit;
  });
  await import(`${main}?run=${++runs}`);
  const code = await exited;
  process.stdout.removeAllListeners("error");
  return { code, ...printed };
}
