// `npm run build [console] [gateway] [cli]`: builds the contents of the image. `--stale` skips what is up to date.
// Packaged results go to `dist/`: `--image` the container image, `--package` the npm packages of gateway and CLI, `--executable`
// the CLI and Node in one file.
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { OutputAsset, OutputChunk } from "rolldown";
import { readLua } from "../packages/gateway/src/redis/read-lua.ts";
import { ROOT, startProgress, withLock } from "./bootstrap.mjs";
import { fingerprint, isCurrent, remember } from "./fingerprint.ts";
import { main, runTool } from "./process.ts";

interface Target {
  readonly name: string;
  readonly sources: readonly string[];
  /** A file that exists once the target is built. */
  readonly output: string;
  build(): Promise<void>;
}

const SHARED = ["package-lock.json", "packages/wire/src/**/*.ts", "tsconfig.base.json"];

export const TARGETS: readonly Target[] = [
  {
    name: "console",
    sources: [...SHARED, "packages/console/{src,public}/**/*", "packages/console/*"],
    output: "packages/console/dist/index.html",
    build: () => viteBuild("packages/console", compress),
  },
  {
    name: "cli",
    sources: [...SHARED, "packages/cli/src/**/*", "packages/cli/*"],
    output: "packages/cli/dist/fairway.mjs",
    build: () => viteBuild("packages/cli"),
  },
  {
    name: "gateway",
    sources: [...SHARED, "packages/gateway/src/**/*", "scripts/build.ts"],
    output: "packages/gateway/dist/main.mjs",
    build: bundleGateway,
  },
];

/** Builds the named targets, or all; parallel runs of one checkout wait for each other. */
export async function build(names: readonly string[], onlyStale: boolean): Promise<void> {
  const unknown = names.filter((name) => !TARGETS.some((target) => target.name === name));
  if (unknown.length > 0) throw new Error(`there is no target ${unknown.join(", ")}`);
  for (const target of TARGETS) {
    if (names.length > 0 && !names.includes(target.name)) continue;
    if (onlyStale && isCurrent(target.name, fingerprint(target.sources), target.output)) continue;
    await withLock(`build-${target.name}`, async () => {
      const print = fingerprint(target.sources);
      if (onlyStale && isCurrent(target.name, print, target.output)) return;
      const progress = startProgress(`Building ${target.name}`);
      try {
        await target.build();
        progress.end(true);
      } catch (error) {
        progress.end(false);
        throw error;
      }
      remember(target.name, print);
    });
  }
}

/** Builds next to the old output and then swaps them, so that a running gateway never serves half a console. */
async function viteBuild(folder: string, finish?: (output: string) => void): Promise<void> {
  const [fresh, dist, old] = ["dist.new", "dist", "dist.old"].map((name) => join(ROOT, folder, name)) as [
    string,
    string,
    string,
  ];
  const { code, output } = await runTool("vite/bin/vite.js", ["build", "--outDir", "dist.new", "--logLevel", "warn"], {
    cwd: join(ROOT, folder),
    env: { NODE_ENV: "production" },
  });
  if (code !== 0) throw new Error(output.slice(0, 4_000));
  finish?.(fresh);
  rmSync(old, { recursive: true, force: true });
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}

/** Writes `.br` and `.gz` next to every text file that gets smaller; the gateway only picks one. */
function compress(folder: string): void {
  for (const file of globSync("**/*.{js,css,html,svg,json}", { cwd: folder })) {
    const bytes = readFileSync(join(folder, file));
    if (bytes.length < 1_024) continue;
    writeFileSync(join(folder, `${file}.br`), brotliCompressSync(bytes));
    writeFileSync(join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

/** Native accelerators that pure JavaScript packages try to load; none of them is installed. */
const OPTIONAL_NATIVE = ["pg-native", "bufferutil", "utf-8-validate"];

/** Bundles everything, so that the image needs no `node_modules`; workers become files next to `main.mjs`. */
async function bundleGateway(): Promise<void> {
  const folder = join(ROOT, "packages/gateway");
  const workers = globSync("src/**/*-worker.ts", { cwd: folder });
  // Imported here because `npm start` builds only the console, without development tools.
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    cwd: folder,
    input: Object.fromEntries(["src/main.ts", ...workers].map((file) => [basename(file, ".ts"), `./${file}`])),
    platform: "node",
    external: OPTIONAL_NATIVE,
    plugins: [
      { name: "lua", transform: inlineLua },
      { name: "ascii", generateBundle: (_options, files) => Object.values(files).forEach(escapeText) },
    ],
    experimental: { attachDebugInfo: "none" },
  });
  await bundle.write({
    dir: "dist",
    format: "esm",
    // `npm run bench -- --profile` reads the maps; the image leaves them out.
    sourcemap: "hidden",
    comments: { legal: true, jsdoc: false, annotation: false },
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    cleanDir: true,
  });
  await bundle.close();
}

const READ_LUA = /readLua\(import\.meta\.url, "([^"]+)"\)/g;

/** Replaces the call that reads a Lua file with the text of the script. */
function inlineLua(code: string, id: string): { code: string; map: null } | undefined {
  if (!code.includes("readLua(") || id.endsWith("/read-lua.ts")) return undefined;
  const module = pathToFileURL(id);
  const inlined = code.replaceAll(READ_LUA, (_call, path: string) => JSON.stringify(readLua(module, path)));
  if (inlined.includes("readLua("))
    throw new Error(`${id} reads a script in another way than readLua(import.meta.url, "PATH")`);
  return { code: inlined, map: null };
}

/** A program with a non-ASCII character is stored with two bytes per character, which takes 8 MB more. */
function escapeText(file: OutputAsset | OutputChunk): void {
  if (file.type === "chunk") file.code = file.code.replace(NOT_ASCII, escapeUnit);
}

const NOT_ASCII = /[\u0080-\uffff]/g;
const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

if (import.meta.main) {
  const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  await main(async () => {
    await build(names, process.argv.includes("--stale"));
    const folder = join(ROOT, "dist");
    if (process.argv.includes("--image")) {
      const { writeImages } = await import("./image/image.ts");
      for (const { archive, digest } of await writeImages(folder)) console.log(`${sized(archive)}, ${digest}`);
    }
    if (process.argv.includes("--package")) {
      const { HOMEPAGE } = await import("./release/version.ts");
      const { writeNpmPackage } = await import("./release/npm-package.ts");
      const { writeGatewayPackage } = await import("./release/gateway-package.ts");
      console.log(sized(await writeNpmPackage(folder, HOMEPAGE)));
      console.log(sized(await writeGatewayPackage(folder, HOMEPAGE)));
    }
    if (process.argv.includes("--executable")) {
      const { writeExecutable } = await import("./release/executable.ts");
      console.log(sized(await writeExecutable(folder)));
    }
  });
}

function sized(file: string): string {
  return `${relative(ROOT, file)}: ${(statSync(file).size / 1e6).toFixed(1)} MB`;
}
