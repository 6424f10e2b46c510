import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const path = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** `scripts/chromium.sh` installs one. */
export const hasChromium: boolean = existsSync(path);

/** A headless browser that sends no requests of its own. */
export async function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    args: [
      ...[
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-dev-shm-usage",
      ],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
}
