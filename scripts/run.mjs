// `node scripts/run.mjs FILE [arguments]`: runs a script under the Node of the lock file, with every package installed.
import { ensureInstalled, runPinned } from "./bootstrap.mjs";

const [file = "", ...args] = process.argv.slice(2);
try {
  await ensureInstalled("all");
  runPinned(file, args);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
