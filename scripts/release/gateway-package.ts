// `npm run build -- --package`: packs gateway and console as an npm package without dependencies, which nothing has to
// compile: `npx @fairway/gateway` starts like `npm start`.
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { packNpm } from "./pack-npm.ts";

/** Oldest Node.js that the package runs on: the first release of the line with long-term support whose SQLite it can use. */
export const OLDEST_GATEWAY_NODE = "24.11.0";

const FOLDERS = ["packages/gateway/dist", "packages/gateway/data", "packages/console/dist"];
const LAUNCHER = join(import.meta.dirname, "gateway-launcher.mjs");

const README = `# Fairway

A Kubernetes-native AI model gateway: one endpoint in front of every model provider, with tokens, limits, budgets and
exact bills. This package is the whole gateway with its console, for a laptop or one machine:

\`\`\`sh
npx @fairway/gateway
\`\`\`

It listens on http://127.0.0.1:3000, keeps its data in \`.fairway/\` of the current folder, and prints how to sign in and
a \`curl\` command that works right away. It needs Node.js ${OLDEST_GATEWAY_NODE} or newer.
`;

/** Packs the built gateway and console into `folder`. Returns the file's path. */
export function writeGatewayPackage(folder: string, homepage: string): Promise<string> {
  return packNpm(folder, {
    homepage,
    programs: ["gateway", "console"],
    name: "@fairway/gateway",
    description: "Fairway, a Kubernetes-native AI model gateway, with its console.",
    readme: README,
    manifest: { bin: { "fairway-gateway": "fairway-gateway.mjs" }, files: ["fairway-gateway.mjs", "packages"] },
    oldestNode: OLDEST_GATEWAY_NODE,
    fill(stage) {
      for (const path of FOLDERS)
        cpSync(join(ROOT, path), join(stage, path), { recursive: true, filter: (file) => !file.endsWith(".map") });
      cpSync(LAUNCHER, join(stage, "fairway-gateway.mjs"));
    },
  });
}

/** Returns the oldest Node that the launcher accepts; the launcher repeats it, because an old Node must be able to read it. */
export function readLauncherNode(): string | undefined {
  return /OLDEST = "([\d.]+)"/.exec(readFileSync(LAUNCHER, "utf8"))?.[1];
}
