import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface Umbrella {
  /** The folder of the chart with its dependency. */
  readonly chart: string;
  /** Runs Helm; rejects with its message. */
  helm(...args: string[]): Promise<string>;
  remove(): void;
}

const ROOT = join(import.meta.dirname, "../..");
const execute = promisify(execFile);

/** Builds the chart in a folder of its own, as `helm dependency build` does in the repository. */
export async function buildUmbrella(program: string): Promise<Umbrella> {
  const folder = mkdtempSync(join(tmpdir(), "fairway-umbrella-"));
  for (const path of ["deploy/umbrella", "charts/fairway"])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  const chart = join(folder, "deploy/umbrella");
  const helm = async (...args: string[]) => (await execute(program, args)).stdout;
  await helm("dependency", "build", chart);
  return { chart, helm, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
