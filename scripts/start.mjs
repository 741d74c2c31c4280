// `npm start`: installs what is missing, builds what is stale and starts Fairway on http://127.0.0.1:3000.
import { ensureInstalled, runPinned } from "./bootstrap.mjs";

try {
  await ensureInstalled("start");
  runPinned("scripts/serve.ts", process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
