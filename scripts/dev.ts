// `npm run dev`: fake upstream, gateway (restarted on change, SQLite in .dev/) and console (Vite), with sample data.
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { signIn } from "../packages/testkit/src/api.ts";
import { startUpstream } from "../packages/testkit/src/upstream/index.ts";
import { ROOT } from "./bootstrap.mjs";
import { main } from "./process.ts";
import { addSample } from "./sample.ts";

const GATEWAY = "http://127.0.0.1:3001";
const UPSTREAM_PORT = 3101;
const PASSWORD = "123456"; // the default of a fresh installation on a loopback address
const START_LIMIT_MS = 60_000;

await main(async () => {
  const upstream = await startUpstream(UPSTREAM_PORT);
  const gateway = start(["--watch-preserve-output", "--watch", "packages/gateway/src/main.ts"], ROOT, {
    FAIRWAY_PORT: new URL(GATEWAY).port,
    FAIRWAY_ADMIN_PORT: "9091",
    FAIRWAY_DATA_DIR: join(ROOT, ".dev"),
    FAIRWAY_LOG_FORMAT: "text",
  });
  const vite = start([join(ROOT, "node_modules/vite/bin/vite.js")], join(ROOT, "packages/console"), {
    FAIRWAY_DEV_GATEWAY: GATEWAY,
  });
  process.once("SIGINT", () => end([gateway, vite], () => upstream.stop()));
  process.once("SIGTERM", () => end([gateway, vite], () => upstream.stop()));

  await untilReady();
  const key = await addSample(await signIn(GATEWAY, "root", PASSWORD), upstream.url);
  console.log(`
  console    http://127.0.0.1:5173   root / ${PASSWORD}
  gateway    ${GATEWAY}
  upstream   ${upstream.url}   faults are words of the model's name: slow-50, status-429, cut-after-3
  key        ${key}
`);
});

function start(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, args, { cwd, stdio: "inherit", env: { ...process.env, ...env } });
  child.once("error", (error) => console.error(error.message));
  return child;
}

async function untilReady(): Promise<void> {
  const limit = performance.now() + START_LIMIT_MS;
  while (performance.now() < limit) {
    const isUp = await fetch(`${GATEWAY}/api/status`).then(
      (answer) => answer.ok,
      () => false, // nothing listens yet
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`the gateway did not answer on ${GATEWAY} within ${START_LIMIT_MS / 1000} s`);
}

function end(children: readonly ChildProcess[], finish: () => Promise<void>): void {
  for (const child of children) child.kill("SIGTERM");
  void finish();
}
