// Charts are signed with an OpenPGP key, and Helm verifies them with the public part.
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { CHARTS, writeChart } from "./chart.ts";
import { releaseVersion } from "./version.ts";

const SMALL = "secrets.generateWithoutCluster=true,database.type=sqlite,replicaCount=1,redis.enabled=false";
const PASSPHRASE = "a passphrase of the test";
const folder = mkdtempSync(join(tmpdir(), "fairway-signed-"));
const home = join(folder, "gpg");
const version = releaseVersion();
const path = (name: string) => join(folder, name);
const helm = (...args: string[]) => execFileSync(findHelm(), args, { encoding: "utf8", stdio: "pipe" });

function gpg(...args: string[]): Buffer {
  const unattended = ["--homedir", home, "--batch", "--yes", "--pinentry-mode", "loopback", "--passphrase", PASSPHRASE];
  return execFileSync("gpg", [...unattended, ...args], { stdio: "pipe" });
}

beforeAll(() => {
  mkdirSync(home, { mode: 0o700 });
  for (const name of ["Charts of the test", "Someone else"])
    gpg("--quick-generate-key", name, "ed25519", "sign", "never");
  writeFileSync(path("secret.gpg"), gpg("--export-secret-keys", "Charts of the test"), { mode: 0o600 });
  writeFileSync(path("public.gpg"), gpg("--export", "Charts of the test"));
  writeFileSync(path("other.gpg"), gpg("--export", "Someone else"));
  writeFileSync(path("passphrase"), `${PASSPHRASE}\n`);
}, 60_000);
afterAll(() => {
  execFileSync("gpgconf", ["--homedir", home, "--kill", "all"]);
  rmSync(folder, { recursive: true, force: true });
});

describe("a chart of a release", () => {
  const signer = { key: "Charts of the test", keyring: path("secret.gpg"), passphraseFile: path("passphrase") };
  const archive = (name: string) => path(`${name}-${version}.tgz`);

  it.each(CHARTS)("%s has a signature that Helm verifies, and only with the right key", async (name) => {
    await writeChart(folder, name, { signer });
    expect(helm("verify", archive(name), "--keyring", path("public.gpg"))).toContain("Signed by: Charts of the test");
    expect(() => helm("verify", archive(name), "--keyring", path("other.gpg"))).toThrow(
      "signature made by unknown entity",
    );
  });

  it("is refused by an install with --verify once its file was changed", async () => {
    await writeChart(folder, "fairway", { signer });
    const render = () =>
      helm("template", "fairway", archive("fairway"), "--verify", "--keyring", path("public.gpg"), "--set", SMALL);
    expect(render()).toContain("kind: Deployment");
    appendFileSync(archive("fairway"), "x");
    expect(render).toThrow("sha256 sum does not match");
  });

  it("names the project", async () => {
    await writeChart(folder, "fairway", { homepage: "https://fairway.test/models" });
    const shown = helm("show", "chart", archive("fairway"));
    expect(shown).toContain("home: https://fairway.test/models");
    expect(shown).toContain("sources:\n- https://fairway.test/models");
  });

  it("has no signature without a key", async () => {
    rmSync(`${archive("fairway")}.prov`, { force: true });
    await writeChart(folder, "fairway", {});
    expect(existsSync(`${archive("fairway")}.prov`)).toBe(false);
  });

  it("is not packed with a key that is not in the file", async () => {
    const wrong = { ...signer, key: "Nobody" };
    await expect(writeChart(folder, "fairway", { signer: wrong })).rejects.toThrow("private key not found");
  });
});
