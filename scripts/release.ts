// `npm run release -- 0.2.0` sets the version everywhere; `-- --pin` lists the packages of Debian and Node that images
// contain. Without either it writes all files of the release to `dist/release`, which the release workflow does on a
// tag: `-- --tag v0.2.0 --downloads URL --homepage URL --registry HOST/FOLDER --sign-key NAME --keyring FILE`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./bootstrap.mjs";
import { main } from "./process.ts";
import type { ChartSigner } from "./release/chart.ts";
import { HOMEPAGE, otherVersions, releaseVersion, setVersion } from "./release/version.ts";

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      pin: { type: "boolean", default: false },
      tag: { type: "string" },
      downloads: { type: "string", default: HOMEPAGE },
      homepage: { type: "string", default: HOMEPAGE },
      registry: { type: "string" },
      "sign-key": { type: "string" },
      keyring: { type: "string" },
      "passphrase-file": { type: "string" },
    },
  });
  const [version] = positionals;
  if (version !== undefined) {
    setVersion(version);
    console.log(`The version is ${version}. Next: npm test, commit, then git tag v${version}.`);
    return;
  }
  if (values.pin) {
    await pinPackages();
    return;
  }
  checkVersions(values.tag);
  const { RELEASE_FOLDER, writeRelease } = await import("./release/write.ts");
  const { downloads, homepage, registry } = values;
  const signer = readSigner(values["sign-key"], values.keyring, values["passphrase-file"]);
  const files = await writeRelease({ folder: RELEASE_FOLDER, downloads, homepage, registry, signer, isLocked: true });
  for (const file of files) console.log(`${relative(ROOT, RELEASE_FOLDER)}/${file}`);
});

/** An empty name of a key counts as none: the workflow passes that of a variable that may be missing. */
function readSigner(key = "", keyring = "", passphraseFile: string | undefined): ChartSigner | undefined {
  if ((key === "") !== (keyring === ""))
    throw new Error("--sign-key and --keyring sign the charts together: give both");
  return key === "" ? undefined : { key, keyring, passphraseFile };
}

async function pinPackages(): Promise<void> {
  const { writeLock } = await import("./image/packages.ts");
  const work = mkdtempSync(join(tmpdir(), "fairway-pin-"));
  try {
    console.log(`${writeLock(work)} lists the packages that Debian and npm offer now`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function checkVersions(tag: string | undefined): void {
  const version = releaseVersion();
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`The tag ${tag} is not v${version}, the version of package.json`);
  const others = otherVersions();
  if (others.length > 0)
    throw new Error(`Not every file has version ${version}: run npm run release -- ${version}\n${others.join("\n")}`);
}
