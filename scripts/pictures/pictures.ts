// `npm run docs -- --screenshots`: takes the pictures of README and docs from a real gateway, console and terminal.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser } from "../../packages/console/e2e/browser.ts";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";
import { consolePictures } from "./console.ts";
import { startSample } from "./sample.ts";
import { terminalPicture } from "./terminal.ts";

const FOLDER = join(ROOT, "docs/pictures");

/** Returns the written files, relative to the checkout. */
export async function writePictures(): Promise<string[]> {
  await build(["console", "cli"], true);
  const gateway = await startSample();
  const browser = await openBrowser();
  try {
    const pictures = [...(await consolePictures(browser, gateway)), await terminalPicture(browser, gateway)];
    mkdirSync(FOLDER, { recursive: true });
    for (const { name, png } of pictures) writeFileSync(join(FOLDER, name), png);
    return pictures.map(({ name }) => `docs/pictures/${name}`);
  } finally {
    await browser.close();
    await gateway.stop();
  }
}
