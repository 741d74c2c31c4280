// Installs and builds the console while the gateway already answers, and notes the progress for its pages.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, ensureInstalled } from "./bootstrap.mjs";
import { build } from "./build.ts";
import { main } from "./process.ts";

/** Named by FAIRWAY_CONSOLE_PROGRESS; the gateway shows its text. */
export const PROGRESS_FILE = join(ROOT, "node_modules", ".cache", "fairway", "console-progress.txt");

if (import.meta.main) {
  await main(async () => {
    try {
      note("Step 1 of 2: installing packages.");
      await ensureInstalled("start");
      note("Step 2 of 2: building the pages.");
      await build(["console"], true);
      rmSync(PROGRESS_FILE, { force: true });
    } catch (error) {
      note("The build failed, and the terminal says why. Repeat it with: npm run build console");
      throw error;
    }
  });
}

function note(text: string): void {
  mkdirSync(dirname(PROGRESS_FILE), { recursive: true });
  writeFileSync(PROGRESS_FILE, `${text}\n`);
}
