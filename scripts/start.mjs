// `npm start`: installs what is missing, builds what is stale and starts Fairway on http://127.0.0.1:3000.
import { ensureInstalled, runPinned, stopWithShell } from "./bootstrap.mjs";

// A shell of its own user may end while this goes on; that of npm does not.
if (process.env["npm_lifecycle_event"] === "start") stopWithShell();
try {
  await ensureInstalled("start");
  runPinned("scripts/serve.ts", process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
