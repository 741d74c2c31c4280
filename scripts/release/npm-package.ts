// `npm run build -- --package`: packs the CLI as an npm package without dependencies.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { OLDEST_NODE } from "../../packages/cli/src/core/version.ts";
import { ROOT } from "../bootstrap.mjs";
import { run } from "../process.ts";
import { packNpm } from "./pack-npm.ts";

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

/** Packs `packages/cli/dist` into `folder`; the command line must be built. Returns the file's path. */
export function writeNpmPackage(folder: string, homepage: string): Promise<string> {
  return packNpm(folder, {
    homepage,
    programs: ["cli"],
    name: "@fairway/cli",
    description: "The terminal client of Fairway, a Kubernetes-native AI model gateway.",
    readme: README,
    manifest: {
      bin: { fairway: "dist/fairway.mjs" },
      man: "man/fairway.1",
      files: ["dist", "man", "completions"],
    },
    oldestNode: OLDEST_NODE,
    async fill(stage) {
      cpSync(join(ROOT, "packages/cli/dist"), join(stage, "dist"), { recursive: true });
      await writeShellFiles(stage);
    },
  });
}
