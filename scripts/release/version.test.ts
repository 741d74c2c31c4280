import { expect, it } from "vitest";
import { readNotes, otherVersions, releaseVersion, setVersion } from "./version.ts";

it("has one version in every package, chart, program and page", () => {
  expect(releaseVersion()).toMatch(/^\d+\.\d+\.\d+/);
  expect(otherVersions()).toEqual([]);
});

it("takes the notes of a version from the changelog", () => {
  expect(readNotes(releaseVersion())).toMatch(/^\S[^]*### /);
  expect(readNotes(releaseVersion())).not.toMatch(/^## /m);
});

it.each(["v0.2.0", "0.2", "latest"])("refuses %s as a version", (version) => {
  expect(() => setVersion(version)).toThrow(`"${version}" is no version`);
});

it("refuses a version that the changelog does not describe", () => {
  expect(() => setVersion("987.0.0")).toThrow('CHANGELOG.md has no heading "## 987.0.0"');
});
