import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./bootstrap.mjs";
import { buildEntry, missingPackages } from "./lock.ts";

test("the lock file names every package that some platform needs: `npm run lock` repairs it", () => {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Parameters<typeof missingPackages>[0];
  };
  expect(missingPackages(lock.packages).map(({ name }) => name)).toEqual([]);
});

test("what is missing is recognized by its name, and what is no package of a platform is not guessed", () => {
  const tool = {
    version: "1.2.3",
    dev: true,
    license: "MIT",
    optionalDependencies: { "@a/b-linux-x64-musl": "1.2.3" },
  };
  const inner = { version: "2.0.0", optionalDependencies: { "@a/b-win32-arm64-msvc": "2.0.0", here: "1.0.0" } };
  const packages = { "": {}, "node_modules/tool": tool, "node_modules/x/node_modules/inner": inner };
  const missing = missingPackages({ ...packages, "node_modules/x/node_modules/here": { version: "1.0.0" } });
  expect(missing.map(buildEntry)).toEqual([
    { version: "1.2.3", cpu: ["x64"], dev: true, libc: ["musl"], license: "MIT", optional: true, os: ["linux"] },
    { version: "2.0.0", cpu: ["arm64"], optional: true, os: ["win32"] },
  ]);
  expect(() => buildEntry({ name: "colours", version: "1.0.0", parent: {} })).toThrow("colours@1.0.0 is no package");
});
