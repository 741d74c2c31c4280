import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

export interface Rendered {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  // Templates hold every kind of object; each test reads the fields of its own.
  readonly [field: string]: unknown;
}

export interface HelmRun {
  readonly code: number;
  readonly output: string;
}

export const CHART = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Helm lives for a tenth of a second; collecting its garbage rarely saves a third of that. */
const ENVIRONMENT = { ...process.env, GOGC: "400" };

export function run(helm: string, args: readonly string[]): Promise<HelmRun> {
  return new Promise((resolve) => {
    execFile(helm, args, { env: ENVIRONMENT, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
    });
  });
}

/** Lets the chart generate secrets without a cluster that has those of an earlier install. */
export const GENERATED = '{"secrets": {"generateWithoutCluster": true}}';

/** A set is `path=value`, or an object of values as JSON. */
export function buildSetArgs(set: string): readonly string[] {
  return [set.startsWith("{") ? "--set-json" : "--set", set];
}

export async function template(
  helm: string,
  values: string,
  sets: readonly string[] = [],
  kubeVersion = "1.33.0",
): Promise<HelmRun> {
  const args = [
    "template",
    "demo",
    CHART,
    "--namespace",
    "models",
    "--kube-version",
    kubeVersion,
    "-f",
    join(CHART, "ci", `${values}.yaml`),
    ...buildSetArgs(GENERATED),
  ];
  return run(helm, [...args, ...sets.flatMap(buildSetArgs)]);
}

export function parseObjects(output: string): Rendered[] {
  return parseAllDocuments(output)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);
}

/** Returns what Helm renders from the values of `ci/<values>.yaml`; throws Helm's message if it refuses them. */
export async function render(helm: string, values: string, sets: readonly string[] = []): Promise<readonly Rendered[]> {
  const { code, output } = await template(helm, values, sets);
  if (code !== 0) throw new Error(output);
  return parseObjects(output);
}

export function requireObject(objects: readonly Rendered[], kind: string): Rendered {
  const [found, ...others] = objects.filter((object) => object.kind === kind);
  if (!found || others.length > 0)
    throw new Error(`${others.length + (found ? 1 : 0)} of ${kind} were rendered, not one`);
  return found;
}
