import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findHelm } from "@fairway/testkit/helm";
import { ROOT } from "../bootstrap.mjs";
import { run } from "../process.ts";

export const CHARTS = ["fairway", "fairway-crds"] as const;

/** The OpenPGP key that signs charts, for `helm verify` and `helm install --verify`. */
export interface ChartSigner {
  /** Part of the name of the key. */
  readonly key: string;
  /** File with the secret key, as `gpg --export-secret-keys` writes it. */
  readonly keyring: string;
  /** File with its passphrase; undefined = it has none. */
  readonly passphraseFile?: string | undefined;
}

export interface ChartSettings {
  /** Host and folder that the image is published to; undefined = the chart names no registry. */
  readonly registry?: string | undefined;
  /** Address of the project, which catalogues of charts show; undefined = the chart names none. */
  readonly homepage?: string | undefined;
  /** Undefined = the charts are not signed. */
  readonly signer?: ChartSigner | undefined;
}

/**
 * Packs a chart; one that is published names the image that is published with it. A signed one gets a provenance file
 * next to it, `.tgz.prov`, which `helm push` publishes together with it.
 */
export async function writeChart(
  folder: string,
  name: (typeof CHARTS)[number],
  { registry, homepage, signer }: ChartSettings,
): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), "fairway-chart-"));
  try {
    const chart = join(stage, name);
    cpSync(join(ROOT, "charts", name), chart, { recursive: true });
    if (registry !== undefined && name === "fairway") {
      const values = join(chart, "values.yaml");
      writeFileSync(values, nameImage(readFileSync(values, "utf8"), registry));
    }
    if (homepage !== undefined)
      appendFileSync(join(chart, "Chart.yaml"), `home: ${homepage}\nsources:\n  - ${homepage}\n`);
    const { code, output } = await run(findHelm(), ["package", chart, "--destination", folder, ...signFlags(signer)]);
    if (code !== 0) throw new Error(output);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function signFlags(signer: ChartSigner | undefined): string[] {
  if (!signer) return [];
  const flags = ["--sign", "--key", signer.key, "--keyring", signer.keyring];
  return signer.passphraseFile === undefined ? flags : [...flags, "--passphrase-file", signer.passphraseFile];
}

function nameImage(values: string, registry: string): string {
  const [host = "", ...path] = registry.split("/");
  const named = values
    .replace(/^ {2}registry: ""$/m, `  registry: ${host}`)
    .replace(/^ {2}repository: fairway\/gateway$/m, `  repository: ${[...path, "gateway"].join("/")}`);
  if (!named.includes(`registry: ${host}\n`) || named === values)
    throw new Error("values.yaml has no image.registry to set");
  return named;
}
