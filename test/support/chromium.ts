import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const path = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Whether there is a browser here; `scripts/chromium.sh` installs one. */
export const hasChromium: boolean = existsSync(path);

/** A browser without a window, that asks nothing of the network by itself. */
export async function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
}
