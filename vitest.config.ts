import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const services = ["packages/testkit/src/vitest-setup.ts"];

// On a machine that others use too, what is waited for comes late.
const expects = { poll: { timeout: 15_000 } };
const UNIT_MS = 30_000;

/** A zone whose clock is past noon now: pages tell "today", and the rows of a test are minutes old. */
function zoneAtNoon(): string {
  const offset = 12 - new Date().getUTCHours();
  return `Etc/GMT${offset > 0 ? "-" : "+"}${Math.abs(offset)}`;
}

// One project per kind of test, so that each can be run by name: `npx vitest run --project gateway`.
export default defineConfig({
  test: {
    // Most tests wait for servers: a worker for each of two cores leaves half of their time unused.
    maxWorkers: Math.max(4, availableParallelism()),
    projects: [
      { test: { name: "wire", include: ["packages/wire/src/**/*.test.ts"], testTimeout: UNIT_MS } },
      { test: { name: "scripts", include: ["scripts/**/*.test.ts"], testTimeout: 120_000 } },
      {
        test: {
          name: "gateway",
          expect: expects,
          include: ["packages/gateway/**/*.test.ts"],
          globalSetup: services,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "testkit",
          expect: expects,
          include: ["packages/testkit/src/**/*.test.ts"],
          globalSetup: services,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "integration",
          expect: expects,
          include: ["packages/testkit/{integration,chaos}/**/*.test.ts"],
          globalSetup: services,
          testTimeout: 120_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      { test: { name: "console", include: ["packages/console/src/**/*.test.{ts,tsx}"], testTimeout: UNIT_MS } },
      {
        test: {
          name: "browser",
          expect: expects,
          include: ["packages/console/e2e/**/*.test.ts"],
          env: { TZ: zoneAtNoon() },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "cli",
          expect: expects,
          include: ["packages/cli/{src,test}/**/*.test.{ts,tsx}"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "chart",
          expect: expects,
          include: ["charts/**/*.test.ts", "deploy/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
