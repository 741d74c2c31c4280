// `npm run build -- --image`: writes the image without a container runtime, and a list of its parts next to it.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { BASE_EXCEPTIONS, fillBase } from "./base.ts";
import { APP_FILES, NODE_PROGRAM } from "./contents.ts";
import { buildImage } from "./oci.ts";
import { buildBillOfMaterials } from "./sbom.ts";
import { tarFolder } from "./tar.ts";

interface WrittenImage {
  readonly archive: string;
  readonly parts: string;
  readonly digest: string;
  readonly bytes: number;
}

/** Writes the archive and its list of parts into `folder`; the three programs must be built. */
export function writeImage(folder: string): WrittenImage {
  const work = mkdtempSync(join(tmpdir(), "fairway-image-"));
  try {
    const [base, node, app] = ["base", "node", "app"].map((name) => join(work, name)) as [string, string, string];
    const debian = fillBase(base, join(work, "debian"));
    for (const { source, target } of APP_FILES) copy(source, join(source === NODE_PROGRAM ? node : app, target));
    strip(join(node, `app/${NODE_PROGRAM}`));
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string };
    const architecture = process.arch === "x64" ? "amd64" : process.arch;
    const layers = [tarFolder(base, BASE_EXCEPTIONS), tarFolder(node), tarFolder(app)];
    const image = buildImage({ tag: version, architecture, labels: labels(version), layers });
    const name = join(folder, `fairway-gateway-${version}-${architecture}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${name}.tar`, image.archive);
    writeFileSync(`${name}.cdx.json`, `${JSON.stringify(buildBillOfMaterials(version, debian), undefined, 2)}\n`);
    return { archive: `${name}.tar`, parts: `${name}.cdx.json`, digest: image.digest, bytes: image.archive.length };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function copy(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  if (source === NODE_PROGRAM) copyFileSync(join(ROOT, source), target);
  else cpSync(join(ROOT, source), target, { recursive: true, filter: (path) => !path.endsWith(".map") });
}

/** Without symbols the program is a fifth smaller. */
function strip(program: string): void {
  try {
    execFileSync("strip", [program]);
  } catch {
    console.log("image: no `strip` (package binutils) on this machine, so Node keeps its symbols");
  }
}

function labels(version: string): Record<string, string> {
  const names = "org.opencontainers.image";
  const common = { [`${names}.title`]: "Fairway", [`${names}.version`]: version, [`${names}.licenses`]: "Apache-2.0" };
  try {
    const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: "pipe" }).trim();
    return {
      ...common,
      [`${names}.revision`]: git("rev-parse", "HEAD"),
      [`${names}.created`]: git("log", "-1", "--format=%cI"),
    };
  } catch {
    return common;
  }
}
