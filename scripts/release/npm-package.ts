// `npm run build -- --package`: packs the CLI as an npm package without dependencies.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OLDEST_NODE } from "../../packages/cli/src/core/version.ts";
import { ROOT } from "../bootstrap.mjs";
import { run } from "../process.ts";
import { releaseVersion } from "./version.ts";

const README = `# fairway

The terminal client of Fairway, a Kubernetes-native AI model gateway.

\`\`\`sh
npx @fairway/cli login https://gateway.example.com
npx @fairway/cli channel list
npx @fairway/cli ui
\`\`\`

\`fairway --help\` lists every command.
`;

/** Packs \`packages/cli/dist\` into \`folder\`; the command line must be built. Returns the file's path. */
export async function writeNpmPackage(folder: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), "fairway-package-"));
  try {
    const version = releaseVersion();
    cpSync(join(ROOT, "packages/cli/dist"), join(stage, "dist"), { recursive: true });
    cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    writeFileSync(join(stage, "README.md"), README);
    const manual = await run(process.execPath, [join(stage, "dist/fairway.mjs"), "man"]);
    if (manual.code !== 0) throw new Error(manual.output);
    mkdirSync(join(stage, "man"));
    writeFileSync(join(stage, "man/fairway.1"), manual.output);
    const manifest = {
      name: "@fairway/cli",
      version,
      description: "The terminal client of Fairway, a Kubernetes-native AI model gateway.",
      license: "Apache-2.0",
      keywords: ["ai", "llm", "gateway", "openai", "anthropic", "gemini", "cli"],
      type: "module",
      bin: { fairway: "dist/fairway.mjs" },
      man: "man/fairway.1",
      files: ["dist", "man"],
      engines: { node: `>=${OLDEST_NODE}` },
      publishConfig: { access: "public", provenance: true },
    };
    writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
    mkdirSync(folder, { recursive: true });
    const { code, output } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: stage });
    if (code !== 0) throw new Error(output);
    return join(folder, `fairway-cli-${version}.tgz`);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}
