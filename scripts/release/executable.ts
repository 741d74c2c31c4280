// `npm run build -- --executable`: builds the CLI and Node in one file, for machines without Node.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { ROOT } from "../bootstrap.mjs";
import { run } from "../process.ts";

/** Writes `fairway-<system>-<architecture>` for the current machine. Returns the file's path. */
export async function writeExecutable(folder: string): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), "fairway-executable-"));
  try {
    const bundle = join(work, "fairway.mjs");
    await bundleInOneFile(bundle);
    mkdirSync(folder, { recursive: true });
    const output = join(folder, `fairway-${process.platform}-${process.arch}`);
    const settings = join(work, "settings.json");
    writeFileSync(
      settings,
      JSON.stringify({ main: bundle, mainFormat: "module", output, disableExperimentalSEAWarning: true }),
    );
    const { code, output: said } = await run(process.execPath, [`--build-sea=${settings}`]);
    if (code !== 0) throw new Error(said);
    return output;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** A single executable contains one module, so nothing is loaded on demand. */
async function bundleInOneFile(file: string): Promise<void> {
  const cli = join(ROOT, "packages/cli");
  const bundle = await rolldown({
    cwd: cli,
    input: "src/main.ts",
    platform: "node",
    resolve: { alias: { "react-devtools-core": join(cli, "src/terminal/no-devtools.ts") } },
    transform: { define: { "process.env.NODE_ENV": JSON.stringify("production") } },
  });
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
}
