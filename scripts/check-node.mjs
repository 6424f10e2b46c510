// Fails where the scripts after it would run on a Node that development tools do not support. They
// run on the package `node`, which npm puts first in the path; without install scripts it is empty,
// and the machine's own Node runs instead.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 15)) {
  console.error(
    `Development needs Node 22.15 or later, and this is ${process.versions.node}: the package "node", which brings ` +
      "Node 24, was installed without its install script. Run `npm rebuild node --ignore-scripts=false`.",
  );
  process.exit(1);
}
