import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { run } from "../process.ts";
import { listAllShipped, writeLicenceTexts, type Program } from "../image/shipped.ts";
import { releaseVersion } from "./version.ts";

interface NpmPackage {
  /** With its scope: `@fairway/cli`. */
  readonly name: string;
  readonly description: string;
  readonly readme: string;
  /** Address of the project, also that of its repository. */
  readonly homepage: string;
  /** Programs in the package, whose parts' licences it carries. */
  readonly programs: readonly Program[];
  /** Members of `package.json` that only this package has. */
  readonly manifest: Readonly<Record<string, unknown>> & { readonly files: readonly string[] };
  readonly oldestNode: string;
  /** Puts the files of the package into the folder. */
  fill(stage: string): Promise<void> | void;
}

/** The licences of the packages that a bundle contains. */
const LICENCE_TEXTS = "LICENSES.npm";

/** Packs a package of this version into `folder`. Returns the file's path. */
export async function packNpm(folder: string, content: NpmPackage): Promise<string> {
  const { name, description, readme, homepage, programs, manifest, oldestNode } = content;
  const stage = mkdtempSync(join(tmpdir(), "fairway-package-"));
  try {
    const version = releaseVersion();
    cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    writeFileSync(join(stage, "README.md"), readme);
    writeFileSync(join(stage, LICENCE_TEXTS), writeLicenceTexts(await listAllShipped(programs)));
    await content.fill(stage);
    const whole = {
      name,
      version,
      description,
      license: "Apache-2.0",
      homepage,
      repository: { type: "git", url: `git+${homepage}.git` },
      keywords: ["ai", "llm", "gateway", "openai", "anthropic", "gemini"],
      type: "module",
      ...manifest,
      files: [...manifest.files, LICENCE_TEXTS],
      engines: { node: `>=${oldestNode}` },
      publishConfig: { access: "public", provenance: true },
    };
    writeFileSync(join(stage, "package.json"), `${JSON.stringify(whole, undefined, 2)}\n`);
    mkdirSync(folder, { recursive: true });
    const { code, output } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: stage });
    if (code !== 0) throw new Error(output);
    return join(folder, `${name.slice(1).replace("/", "-")}-${version}.tgz`);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}
