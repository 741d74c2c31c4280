// The manifests of docs/operate/gitops.md: what they point to exists, and the charts take their values. The resources
// themselves are judged by an API server in `npm run test:cluster`.
import { findHelm } from "@fairway/testkit/helm";
import { Application } from "@kubernetes-models/argo-cd/argoproj.io/v1alpha1/Application";
import { HelmRelease } from "@kubernetes-models/flux-cd/helm.toolkit.fluxcd.io/v2beta2/HelmRelease";
import { Kustomization } from "@kubernetes-models/flux-cd/kustomize.toolkit.fluxcd.io/v1/Kustomization";
import { GitRepository } from "@kubernetes-models/flux-cd/source.toolkit.fluxcd.io/v1/GitRepository";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly path?: string;
    readonly values?: object;
    readonly source?: { readonly path: string; readonly helm?: { readonly valuesObject: object } };
    readonly chart?: { readonly spec: { readonly chart: string } };
  };
}

/** By the schemas of the tools' own definitions. That of HelmRelease is v2beta2, which has every field used here. */
const SCHEMAS = { Application, GitRepository, HelmRelease, Kustomization } as Record<
  string,
  new (data: never) => { validate(): void }
>;

const ROOT = join(import.meta.dirname, "../..");
const helm = findHelm();
const work = mkdtempSync(join(tmpdir(), "fairway-gitops-"));
afterAll(() => {
  rmSync(work, { recursive: true });
});

const read = (name: string) =>
  parseAllDocuments(readFileSync(join(import.meta.dirname, name), "utf8")).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
const readPath = ({ spec }: Manifest) => spec.source?.path ?? spec.chart?.spec.chart ?? spec.path;
const readValues = ({ spec }: Manifest) => spec.source?.helm?.valuesObject ?? spec.values ?? {};

describe.each(["argocd.yaml", "flux.yaml"])("deploy/gitops/%s", (name) => {
  const manifests = read(name);

  it.each(manifests)("$kind $metadata.name is valid, and would not be without its spec", ({ kind, metadata, spec }) => {
    const Schema = SCHEMAS[kind];
    if (!Schema) throw new Error(`no schema of ${kind}`);
    new Schema({ metadata, spec } as never).validate();
    expect(() => new Schema({ metadata, spec: {} } as never).validate()).toThrow("required");
  });

  it("points to the two charts and to the resources", () => {
    const paths = manifests.flatMap((manifest) => readPath(manifest) ?? []);
    for (const path of paths) expect(existsSync(join(ROOT, path)), path).toBe(true);
    expect(paths.map((path) => path.replace("./", ""))).toEqual([
      "charts/fairway-crds",
      "charts/fairway",
      "deploy/gitops/resources",
    ]);
  });

  it("gives the charts values that they take, without generated secrets", () => {
    for (const manifest of manifests) {
      const path = readPath(manifest);
      if (!path?.startsWith("charts/")) continue;
      const file = join(work, "values.json");
      writeFileSync(file, JSON.stringify(readValues(manifest)));
      const render = () =>
        execFileSync(helm, ["template", "fairway", join(ROOT, path), "-f", file], { encoding: "utf8" });
      expect(render()).toBe(render());
    }
  });
});

it("the resources are listed in their kustomization, and the chart may read the Secrets that they name", () => {
  const { resources } = read("resources/kustomization.yaml")[0] as unknown as { resources: string[] };
  const text = resources.map((file) => readFileSync(join(import.meta.dirname, "resources", file), "utf8")).join("\n");
  const secrets = [...text.matchAll(/secretKeyRef: \{ name: (\w+)/g)].map(([, secret]) => secret);
  expect(secrets).toEqual(["openai", "anthropic"]);
  for (const manifest of [...read("argocd.yaml"), ...read("flux.yaml")]) {
    const { gitops } = readValues(manifest) as { gitops?: { secretNames: string[] } };
    if (gitops) expect(gitops.secretNames).toEqual(secrets);
  }
});
