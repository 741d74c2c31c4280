#!/usr/bin/env node
// The program of the npm package: starts the gateway with the defaults of `npm start` and the memory settings of the
// image. Old versions of Node must be able to read this file, to say what they lack.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const OLDEST = "24.11.0";
const FLAGS = ["--max-semi-space-size=32"];
const DEFAULTS = {
  FAIRWAY_HOST: "127.0.0.1",
  FAIRWAY_PORT: "3000",
  FAIRWAY_DATA_DIR: ".fairway",
  FAIRWAY_LOG_FORMAT: "text",
  MALLOC_ARENA_MAX: "1",
  MALLOC_MMAP_THRESHOLD_: "32768",
  MALLOC_TRIM_THRESHOLD_: "1048576",
};

if (isOlder(process.versions.node, OLDEST)) {
  console.error(
    `This is Node.js ${process.versions.node}, and the gateway needs ${OLDEST} or newer. Install it, or run:\n  npx -p node@26 -p @fairway/gateway fairway-gateway`,
  );
  process.exitCode = 1;
} else {
  start();
}

function isOlder(version, oldest) {
  const [major, minor] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldest.split(".").map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

function start() {
  const program = fileURLToPath(new URL("packages/gateway/dist/main.mjs", import.meta.url));
  const gateway = spawn(process.execPath, [...FLAGS, program, ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...DEFAULTS, ...process.env },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // A terminal sends SIGINT to the whole group already.
      if (signal !== "SIGINT" || !process.stdin.isTTY) gateway.kill(signal);
    });
  }
  gateway.once("error", (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  gateway.once("close", (code, signal) => (process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143)));
}
