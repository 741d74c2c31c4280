// `npm start`: installs what is missing and starts Fairway on http://127.0.0.1:3000. The first time, the gateway starts
// before the console is installed and built.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT, ensureInstalled, runPinned, stopWithShell } from "./bootstrap.mjs";

const hasConsole = existsSync(join(ROOT, "packages/console/dist/index.html"));

// npm's shell ends with npm; another shell may end while Fairway must continue.
if (process.env["npm_lifecycle_event"] === "start") stopWithShell();
try {
  await ensureInstalled(hasConsole ? "start" : "gateway");
  runPinned("scripts/serve.ts", process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
