// Lists the parts of the image as CycloneDX: the npm packages in the bundles, Node, and the Debian packages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly link?: boolean;
  readonly resolved?: string;
}

interface Component {
  readonly type: "library";
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license: { readonly name: string } }[];
}

const PROGRAMS = ["packages/gateway", "packages/console", "packages/cli"];
/** Dependencies of the console, because `npm start` builds it; no bundle contains them. */
const BUILD_TOOLS = ["vite", "@vitejs/plugin-react"];

export function buildBillOfMaterials(version: string, debian: Readonly<Record<string, string>>) {
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: { type: "container", name: "fairway/gateway", version } },
    components: [
      ...npmComponents(),
      ...Object.entries(debian).map(([name, release]) => component("deb/debian", name, release)),
    ],
  };
}

/** Returns every package that the three programs need at run time, as resolved by the lock file. */
function npmComponents(): Component[] {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const found = new Set<string>();
  const waiting = ["node_modules/node", ...PROGRAMS];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entry = lock.packages[path];
    if (!entry || found.has(path)) continue;
    found.add(path);
    if (entry.link && entry.resolved) waiting.push(entry.resolved);
    const names = Object.keys(entry.dependencies ?? {}).filter((name) => !BUILD_TOOLS.includes(name));
    waiting.push(...names.map((name) => resolve(lock.packages, path, name)));
  }
  return [...found]
    .filter((path) => path.includes("node_modules/") && !lock.packages[path]?.link)
    .toSorted()
    .map((path) => {
      const { version = "", license } = lock.packages[path] ?? {};
      return component("npm", path.slice(path.lastIndexOf("node_modules/") + 13), version, license);
    });
}

/** Finds a package in the nearest `node_modules` above the one that requires it. */
function resolve(packages: Readonly<Record<string, LockedPackage>>, from: string, name: string): string {
  for (let folder = from; folder !== ""; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const path = `${folder}/node_modules/${name}`;
    if (packages[path]) return path;
  }
  return `node_modules/${name}`;
}

function component(type: string, name: string, version: string, license?: string): Component {
  const purl = `pkg:${type}/${name.replace("@", "%40")}@${encodeURIComponent(version)}`;
  return { type: "library", name, version, purl, ...(license && { licenses: [{ license: { name: license } }] }) };
}
