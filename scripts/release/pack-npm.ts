import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { run } from "../process.ts";
import { releaseVersion } from "./version.ts";

interface NpmPackage {
  /** With its scope: `@fairway/cli`. */
  readonly name: string;
  readonly description: string;
  readonly readme: string;
  /** Members of `package.json` that only this package has. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly oldestNode: string;
  /** Puts the files of the package into the folder. */
  fill(stage: string): Promise<void> | void;
}

/** Packs a package of this version into `folder`. Returns the file's path. */
export async function packNpm(folder: string, content: NpmPackage): Promise<string> {
  const { name, description, readme, manifest, oldestNode } = content;
  const stage = mkdtempSync(join(tmpdir(), "fairway-package-"));
  try {
    const version = releaseVersion();
    cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    writeFileSync(join(stage, "README.md"), readme);
    await content.fill(stage);
    const whole = {
      name,
      version,
      description,
      license: "Apache-2.0",
      keywords: ["ai", "llm", "gateway", "openai", "anthropic", "gemini"],
      type: "module",
      ...manifest,
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
