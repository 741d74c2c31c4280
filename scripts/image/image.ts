// `npm run build -- --image`: writes the image without a container runtime, and a list of its parts next to it.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { BASE_EXCEPTIONS, fillBase } from "./base.ts";
import { APP_FILES, LICENCES, NODE_PROGRAM } from "./contents.ts";
import { buildImage } from "./oci.ts";
import {
  compareWithLock,
  fetchDebian,
  fetchNode,
  HOST_ARCHITECTURE,
  readNodeVersion,
  requireLocked,
  type Architecture,
} from "./packages.ts";
import { buildBillOfMaterials } from "./sbom.ts";
import { listAllShipped, writeLicenceTexts, type ShippedPackage } from "./shipped.ts";
import { tarFolder } from "./tar.ts";

export interface WrittenImage {
  readonly architecture: Architecture;
  readonly archive: string;
  readonly parts: string;
  readonly digest: string;
  readonly bytes: number;
}

interface ImageSettings {
  readonly architectures?: readonly Architecture[];
  /** True for a release: refuses packages of Debian that the lock file does not list. */
  readonly isLocked?: boolean;
}

/** Programs that `strip` of another architecture has on Debian. */
const STRIP: Readonly<Record<Architecture, string>> = {
  amd64: "x86_64-linux-gnu-strip",
  arm64: "aarch64-linux-gnu-strip",
};

/** Writes an archive and its list of parts for each architecture into `folder`; the three programs must be built. */
export async function writeImages(folder: string, settings: ImageSettings = {}): Promise<WrittenImage[]> {
  const { architectures = [HOST_ARCHITECTURE], isLocked = false } = settings;
  const npm = await listAllShipped(["gateway", "console", "cli"]);
  return architectures.map((architecture) => writeImage(folder, architecture, npm, isLocked));
}

function writeImage(
  folder: string,
  architecture: Architecture,
  npm: readonly ShippedPackage[],
  isLocked: boolean,
): WrittenImage {
  const work = mkdtempSync(join(tmpdir(), "fairway-image-"));
  try {
    const [base, node, app] = ["base", "node", "app"].map((name) => join(work, name)) as [string, string, string];
    const debian = fetchDebian(architecture, join(work, "debian"));
    if (isLocked) requireLocked(architecture, debian);
    else
      for (const line of compareWithLock(architecture, debian)) console.log(`image: a release would differ: ${line}`);
    fillBase(base, debian);
    const nodePackage = fetchNode(architecture);
    const program = join(node, `app/${NODE_PROGRAM}`);
    mkdirSync(dirname(program), { recursive: true });
    copyFileSync(join(nodePackage, "bin/node"), program);
    strip(program, architecture);
    for (const { source, target } of APP_FILES) if (source !== NODE_PROGRAM) copy(source, join(app, target));
    writeLicences(app, nodePackage, npm);
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string };
    const layers = [tarFolder(base, BASE_EXCEPTIONS), tarFolder(node), tarFolder(app)];
    const image = buildImage({ tag: version, architecture, labels: labels(version), layers });
    const name = join(folder, `fairway-gateway-${version}-${architecture}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${name}.tar`, image.archive);
    const { digest } = image;
    const parts = buildBillOfMaterials({ version, architecture, digest, node: readNodeVersion(), npm, debian });
    writeFileSync(`${name}.cdx.json`, `${JSON.stringify(parts, undefined, 2)}\n`);
    return { architecture, archive: `${name}.tar`, parts: `${name}.cdx.json`, digest, bytes: image.archive.length };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function copy(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(ROOT, source), target, { recursive: true, filter: (path) => !path.endsWith(".map") });
}

/** Writes the licence of this program, that of Node, and those of the npm packages; Debian's lie with its packages. */
function writeLicences(app: string, nodePackage: string, npm: readonly ShippedPackage[]): void {
  const folder = join(app, LICENCES);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  copyFileSync(join(nodePackage, "LICENSE"), join(folder, "LICENSE.node"));
  writeFileSync(join(folder, "LICENSES.npm"), writeLicenceTexts(npm));
}

/** Without symbols the program is a fifth smaller. */
function strip(program: string, architecture: Architecture): void {
  const names = architecture === HOST_ARCHITECTURE ? ["strip"] : [STRIP[architecture], "llvm-strip"];
  for (const name of names) {
    try {
      execFileSync(name, [program], { stdio: "ignore" });
      return;
    } catch {
      // The next one may be installed.
    }
  }
  console.log(
    `image: no program to strip ${architecture} on this machine (${names.join(", ")}), so Node keeps its symbols`,
  );
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
