// The second half of `npm start`, under the Node of the lock file: runs the gateway from its sources, with SQLite in
// .fairway/ and the demo channel unless the environment or `.env` says otherwise. A stale console is built before; a
// missing one while the gateway runs, which shows the progress on its pages.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./bootstrap.mjs";
import { build } from "./build.ts";
import { PROGRESS_FILE } from "./first-console.ts";
import { NODE_FLAGS } from "./memory.ts";
import { main } from "./process.ts";
import { startVariables } from "./start-variables.ts";

const GATEWAY = [...NODE_FLAGS, join(ROOT, "packages/gateway/src/main.ts"), ...process.argv.slice(2)];

await main(async () => {
  const hasConsole = existsSync(join(ROOT, "packages/console/dist/index.html"));
  if (hasConsole) await build(["console"], true);
  const variables = startVariables(ROOT, process.env);
  const gateway = runScript(
    GATEWAY,
    hasConsole ? variables : { FAIRWAY_CONSOLE_PROGRESS: PROGRESS_FILE, ...variables },
  );
  const builder = hasConsole ? undefined : runScript([join(ROOT, "scripts/first-console.ts")], process.env);
  gateway.once("error", (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  gateway.once("close", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143);
    builder?.kill();
  });
});

/** Runs a program of this checkout and passes signals on to it. */
function runScript(args: readonly string[], env: Readonly<Record<string, string | undefined>>): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // A terminal sends SIGINT to the whole group already.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  return child;
}
