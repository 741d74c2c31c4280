import { expect, it } from "vitest";
import { homebrewFormula } from "./formula.ts";

const release = { version: "1.2.3", downloads: "https://downloads.test/v1.2.3", homepage: "https://fairway.test" };

it("names each executable that has a checksum", () => {
  const checksums = { "fairway-linux-x64": "a".repeat(64), "fairway-darwin-arm64": "b".repeat(64) };
  const formula = homebrewFormula({ ...release, checksums });
  expect(formula).toContain(`version "1.2.3"`);
  expect(formula).toContain(
    `on_intel do\n      url "https://downloads.test/v1.2.3/fairway-linux-x64"\n      sha256 "${"a".repeat(64)}"`,
  );
  expect(formula).toContain(`sha256 "${"b".repeat(64)}"`);
  expect(formula).not.toContain("fairway-linux-arm64");
  expect(formula).toContain(`(man1/"fairway.1").write`);
});

it("refuses a release without an executable", () => {
  expect(() => homebrewFormula({ ...release, checksums: {} })).toThrow("no checksum of fairway-darwin-arm64");
});
