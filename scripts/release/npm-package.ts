// `npm run build -- --package`: packs the CLI as an npm package without dependencies.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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

\`fairway --help\` lists every command. \`man fairway\` shows the manual page, and the folder \`completions\` has the scripts
of bash, zsh, fish and PowerShell; \`fairway completion SHELL\` prints them too.
`;

/** Where each file for a shell lies in the package, and the command that prints it. */
export const SHELL_FILES: Readonly<Record<string, readonly string[]>> = {
  "man/fairway.1": ["man"],
  "completions/fairway.bash": ["completion", "bash"],
  "completions/_fairway": ["completion", "zsh"],
  "completions/fairway.fish": ["completion", "fish"],
  "completions/fairway.ps1": ["completion", "powershell"],
};

/** Writes the manual page and the completions, for packages of systems, which put them where shells look. */
export async function writeShellFiles(folder: string): Promise<void> {
  for (const [path, words] of Object.entries(SHELL_FILES)) {
    const { code, output } = await run(process.execPath, [join(ROOT, "packages/cli/dist/fairway.mjs"), ...words]);
    if (code !== 0) throw new Error(output);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), output);
  }
}

/** Packs \`packages/cli/dist\` into \`folder\`; the command line must be built. Returns the file's path. */
export async function writeNpmPackage(folder: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), "fairway-package-"));
  try {
    const version = releaseVersion();
    cpSync(join(ROOT, "packages/cli/dist"), join(stage, "dist"), { recursive: true });
    cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
    writeFileSync(join(stage, "README.md"), README);
    await writeShellFiles(stage);
    const manifest = {
      name: "@fairway/cli",
      version,
      description: "The terminal client of Fairway, a Kubernetes-native AI model gateway.",
      license: "Apache-2.0",
      keywords: ["ai", "llm", "gateway", "openai", "anthropic", "gemini", "cli"],
      type: "module",
      bin: { fairway: "dist/fairway.mjs" },
      man: "man/fairway.1",
      files: ["dist", "man", "completions"],
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
