// A folder that holds a program `go` shows what a build says; no Go is needed.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runGoBuild, type GoLimits } from "./go-build.ts";

const LIMITS: GoLimits = { cpuSeconds: 60, quietSeconds: 30, everyMs: 20 };
let folder: string;
let path: string | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fairway-go-"));
  path = process.env["PATH"];
});
afterEach(() => {
  process.env["PATH"] = path;
  rmSync(folder, { recursive: true, force: true });
});

function build(script: string, limits: Partial<GoLimits> = {}) {
  writeFileSync(join(folder, "go"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "go"), 0o755);
  process.env["PATH"] = `${folder}:${path}`;
  const said: string[] = [];
  const work = runGoBuild({
    folder,
    args: ["./x"],
    title: "cluster",
    limits: { ...LIMITS, ...limits },
    say: (line) => void said.push(line),
  });
  return { work, said };
}

const DOWNLOADS = "echo 'go: downloading k8s.io/api v0.36.4' >&2; echo 'k8s.io/api/core/v1' >&2; echo fmt >&2";

test("a build counts what it downloads and compiles", async () => {
  const { work, said } = build(DOWNLOADS);
  await work;
  expect(said.at(-1)).toMatch(/^cluster: 1 modules downloaded, 2 packages compiled, \d+ s of processor time, done$/);
});

test("a build that fails says where, with its last lines and what to do", async () => {
  const { work } = build(`${DOWNLOADS}; echo 'no space left on device' >&2; exit 1`);
  await expect(work).rejects.toThrow(
    /2 packages compiled.*then go build ended with 1\.\n(?:.*\n)*  no space left on device\n.*run the same command again/,
  );
});

test("a build that waits for ever is ended, however long it had worked", async () => {
  const { work } = build("exec sleep 60", { quietSeconds: 0.3 });
  await expect(work).rejects.toThrow("nothing happened for 0.3 s: is the module proxy reachable?");
});

test("a build is ended by its processor time, and not by the clock", async () => {
  const slow = build("for n in 1 2 3 4 5 6; do echo fmt >&2; sleep 0.2; done", { quietSeconds: 1, cpuSeconds: 1 });
  await slow.work;
  const busy = build("while :; do :; done", { cpuSeconds: 0.3 });
  await expect(busy.work).rejects.toThrow("it used more than 0.3 s of processor time");
});

test("without Go the error says what to install", async () => {
  process.env["PATH"] = folder;
  await expect(runGoBuild({ folder, args: [], title: "cluster", say: () => undefined })).rejects.toThrow(
    "there is no program go: install Go 1.26",
  );
});
