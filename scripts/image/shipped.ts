// Lists the npm packages whose code is in what ships: the bundles say it, so nothing is listed that only a build or a
// test uses.
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../bootstrap.mjs";

export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** As the package writes it: `MIT`. */
  readonly license: string;
  readonly folder: string;
}

export type Program = "gateway" | "console" | "cli";

const LICENCE_FILES = /^(?:licen[cs]e|copying|notice|copyright)/i;
const IN_PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** Returns the packages of a program, by name. The gateway must be built; the two others are built in memory. */
async function listShippedPackages(program: Program): Promise<ShippedPackage[]> {
  const folder = join(ROOT, "packages", program);
  const modules = program === "gateway" ? readMaps(join(folder, "dist")) : await listModules(folder);
  const folders = new Set(modules.flatMap((path) => IN_PACKAGE.exec(path)?.[1] ?? []));
  const packages = new Map(
    [...folders].map(describePackage).map((one) => [`${one.name}@${one.version}`, one] as const),
  );
  return [...packages.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function readMaps(dist: string): string[] {
  const maps = globSync("*.map", { cwd: dist });
  if (maps.length === 0) throw new Error(`${relative(ROOT, dist)} has no source maps: run npm run build -- gateway`);
  return maps.flatMap((name) => {
    const { sources } = JSON.parse(readFileSync(join(dist, name), "utf8")) as { readonly sources: readonly string[] };
    return sources.map((source) => resolve(dist, source));
  });
}

async function listModules(folder: string): Promise<string[]> {
  // Imported here because `npm start` runs without development tools.
  const { build } = await import("vite");
  const modules = new Set<string>();
  await build({
    root: folder,
    configFile: join(folder, "vite.config.ts"),
    logLevel: "error",
    build: { write: false, minify: false },
    plugins: [
      {
        name: "list-modules",
        generateBundle(_options, files) {
          for (const file of Object.values(files))
            if (file.type === "chunk")
              for (const [id, { renderedLength }] of Object.entries(file.modules))
                if (renderedLength > 0) modules.add(id);
          // Fonts, pictures and styles become files of their own.
          for (const id of this.getModuleIds()) if (/\.(?:css|svg|png|woff2?)(?:\?|$)/.test(id)) modules.add(id);
        },
      },
    ],
  });
  return [...modules];
}

function describePackage(folder: string): ShippedPackage {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string | { readonly type: string };
  };
  const { name, version, license = "" } = manifest;
  return { name, version, license: typeof license === "string" ? license : license.type, folder };
}

/** Returns the licence texts of packages as one text, each after the name of its package. */
export function writeLicenceTexts(packages: readonly ShippedPackage[]): string {
  const parts = packages.map(({ name, version, license, folder }) => {
    const files = readdirSync(folder).filter((file) => LICENCE_FILES.test(file));
    const texts = files.toSorted().map((file) => readFileSync(join(folder, file), "utf8").trim());
    const text =
      texts.length > 0 ? texts.join("\n\n") : `The package has no licence file; its manifest says: ${license}`;
    return `${name} ${version} (${license})\n${"-".repeat(72)}\n${text}\n`;
  });
  return `This program contains the packages below, under the licences of their authors.\n\n${parts.join("\n\n")}`;
}

/** Returns the packages of several programs, each once. */
export async function listAllShipped(programs: readonly Program[]): Promise<ShippedPackage[]> {
  const all = new Map<string, ShippedPackage>();
  for (const program of programs)
    for (const one of await listShippedPackages(program)) all.set(`${one.name}@${one.version}`, one);
  return [...all.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
