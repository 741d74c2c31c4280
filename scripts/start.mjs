// `npm start`: installs what is missing, builds what is stale and starts Fairway on http://127.0.0.1:3000.
import { ensureInstalled, runPinned, stopWithShell } from "./bootstrap.mjs";

// npm's shell ends with npm; another shell may end while Fairway must continue.
if (process.env["npm_lifecycle_event"] === "start") stopWithShell();
try {
  await ensureInstalled("start");
  runPinned("scripts/serve.ts", process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
