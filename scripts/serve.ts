// The second half of `npm start`, under the Node of the lock file: builds the console when it is stale and runs
// the gateway from its sources, with SQLite in .fairway/ and the demo channel unless the environment or `.env` says
// otherwise.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./bootstrap.mjs";
import { build } from "./build.ts";
import { NODE_FLAGS } from "./memory.ts";
import { main } from "./process.ts";
import { startVariables } from "./start-variables.ts";

await main(async () => {
  await build(["console"], true);

  const gateway = spawn(
    process.execPath,
    [...NODE_FLAGS, join(ROOT, "packages/gateway/src/main.ts"), ...process.argv.slice(2)],
    {
      cwd: ROOT,
      stdio: "inherit",
      env: startVariables(ROOT, process.env),
    },
  );
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) gateway.kill(signal);
    });
  }
  gateway.once("error", (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  gateway.once("close", (code, signal) => (process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143)));
});
