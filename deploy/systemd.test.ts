import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ALLOCATOR, NODE_FLAGS } from "../scripts/memory.ts";

const ROOT = join(import.meta.dirname, "..");
const unit = readFileSync(join(import.meta.dirname, "systemd/fairway.service"), "utf8");
const listValues = (key: string) =>
  [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);

it("is a unit that systemd accepts", () => {
  const folder = mkdtempSync(join(tmpdir(), "fairway-systemd-"));
  try {
    // `verify` also checks that the program exists.
    const file = join(folder, "fairway.service");
    writeFileSync(file, unit.replaceAll("/opt/fairway", ROOT));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" });
    expect(stderr.split("\n").filter((line) => line.includes("fairway.service"))).toEqual([]);
    expect(status, stderr).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("starts the gateway with the memory settings of the image", () => {
  expect(listValues("ExecStart")[0]).toContain(` ${NODE_FLAGS.join(" ")} /opt/fairway/packages/gateway/dist/main.mjs`);
  const variables = listValues("Environment").flatMap((line) => line.split(" "));
  for (const [name, value] of Object.entries(ALLOCATOR)) expect(variables).toContain(`${name}=${value}`);
});

it("waits longer for the end than the gateway drains", () => {
  const reference = readFileSync(join(ROOT, "docs/reference/environment.md"), "utf8");
  const drainSeconds = Number(/`FAIRWAY_DRAIN_SECONDS`[^`]*`(\d+)`/.exec(reference)?.[1]);
  expect(Number.parseInt(listValues("TimeoutStopSec")[0] ?? "", 10)).toBeGreaterThan(drainSeconds);
});

it("leaves little open to an attacker", () => {
  const report = execFileSync(
    "systemd-analyze",
    ["security", "--offline=true", join(import.meta.dirname, "systemd/fairway.service")],
    { encoding: "utf8" },
  );
  expect(Number(/Overall exposure level for fairway\.service: ([\d.]+)/.exec(report)?.[1])).toBeLessThan(2);
});
