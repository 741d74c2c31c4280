// `npm run docs`: writes docs/reference from the tables that the program itself uses. `--check` only compares.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./bootstrap.mjs";
import { api } from "./reference/api.ts";
import { callTests } from "./reference/call-tests.ts";
import { cli } from "./reference/cli.ts";
import { conversions } from "./reference/conversions.ts";
import { endpoints } from "./reference/endpoints.ts";
import { environment } from "./reference/environment.ts";
import { errors } from "./reference/errors.ts";
import { metrics } from "./reference/metrics.ts";
import { options } from "./reference/options.ts";
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
const FOLDER = join(ROOT, "docs/reference");

const isChecking = process.argv.includes("--check");
mkdirSync(FOLDER, { recursive: true });
for (const [name, make] of Object.entries(PAGES)) {
  const file = join(FOLDER, `${name}.md`);
  const text = make();
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  if (!isChecking) writeFileSync(file, text);
  else {
    console.error(`docs/reference/${name}.md is not what the tables say: npm run docs`);
    process.exitCode = 1;
  }
}
