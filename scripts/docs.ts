// `npm run docs`: writes docs/reference and the custom resources of Kubernetes from the tables that the program itself
// uses. `--check` only compares, `--site` also builds the searchable site in dist/docs,
// `--screenshots` takes the pictures in docs/pictures.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./bootstrap.mjs";
import { runTool } from "./process.ts";
import { api } from "./reference/api.ts";
import { callTests } from "./reference/call-tests.ts";
import { chartReadme } from "./reference/chart.ts";
import { cli } from "./reference/cli.ts";
import { crdFiles, crdJson } from "./reference/crds.ts";
import { conversions } from "./reference/conversions.ts";
import { endpoints } from "./reference/endpoints.ts";
import { environment } from "./reference/environment.ts";
import { errors } from "./reference/errors.ts";
import { metrics } from "./reference/metrics.ts";
import { options } from "./reference/options.ts";
import { providerPages } from "./reference/provider-pages.ts";
import { providers } from "./reference/providers.ts";
import { readme } from "./reference/readme.ts";
import { weaknesses } from "./reference/weaknesses.ts";

const PAGES: Readonly<Record<string, () => string>> = {
  README: readme,
  environment,
  options,
  errors,
  metrics,
  endpoints,
  api,
  "call-tests": callTests,
  cli,
  providers,
  conversions,
  weaknesses,
};
const FOLDER = "docs/reference";
const CRD_CHART = "charts/fairway-crds/templates";

/** Files to write, with their contents. */
const FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(PAGES).map(([name, make]) => [`${FOLDER}/${name}.md`, make()])),
  ...Object.fromEntries(
    Object.entries(providerPages()).map(([name, text]) => [`${FOLDER}/providers/${name}.md`, text]),
  ),
  ...Object.fromEntries(Object.entries(crdFiles()).map(([name, text]) => [`${CRD_CHART}/${name}`, text])),
  "charts/fairway/README.md": chartReadme(),
  "packages/cli/src/commands/kube/crds.json": crdJson(),
};

const isChecking = process.argv.includes("--check");
for (const [name, text] of Object.entries(FILES)) {
  const file = join(ROOT, name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  mkdirSync(dirname(file), { recursive: true });
  if (!isChecking) writeFileSync(file, text);
  else {
    console.error(`${name} is not what the tables say: npm run docs`);
    process.exitCode = 1;
  }
}

if (process.argv.includes("--site")) {
  const { code } = await runTool("vitepress/bin/vitepress.js", ["build", "docs"], { isLoud: true });
  if (code !== 0) process.exitCode = code;
}

if (process.argv.includes("--screenshots")) {
  const { writePictures } = await import("./pictures/pictures.ts");
  for (const file of await writePictures()) console.log(file);
}
