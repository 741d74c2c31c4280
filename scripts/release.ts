// `npm run release -- 0.2.0` sets the version everywhere; `-- --pin` writes the digests of the base images. Without
// either it writes all files of the release to `dist/release`, which the release workflow does on a tag: `-- --tag
// v0.2.0 --downloads URL --homepage URL`.
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./bootstrap.mjs";
import { main } from "./process.ts";
import { checkBaseImages, pinBaseImages } from "./release/base-images.ts";
import { otherVersions, releaseVersion, setVersion } from "./release/version.ts";

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      pin: { type: "boolean", default: false },
      tag: { type: "string" },
      downloads: { type: "string", default: "https://example.com/fairway" },
      homepage: { type: "string", default: "https://example.com/fairway" },
    },
  });
  const [version] = positionals;
  if (version !== undefined) {
    setVersion(version);
    console.log(`The version is ${version}. Next: npm test, commit, then git tag v${version}.`);
    return;
  }
  if (values.pin) {
    for (const image of await pinBaseImages()) console.log(`deploy/Dockerfile starts from ${image}`);
    return;
  }
  checkVersions(values.tag);
  checkBaseImages();
  const { RELEASE_FOLDER, writeRelease } = await import("./release/write.ts");
  const files = await writeRelease({ folder: RELEASE_FOLDER, downloads: values.downloads, homepage: values.homepage });
  for (const file of files) console.log(`${relative(ROOT, RELEASE_FOLDER)}/${file}`);
});

function checkVersions(tag: string | undefined): void {
  const version = releaseVersion();
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(`The tag ${tag} is not v${version}, the version of package.json`);
  const others = otherVersions();
  if (others.length > 0)
    throw new Error(`Not every file has version ${version}: run npm run release -- ${version}\n${others.join("\n")}`);
}
