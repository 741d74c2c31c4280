// What the image contains and how it starts: `npm run build -- --image` reads this, and a test compares
// deploy/Dockerfile with it.
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";

export const NODE_PROGRAM = "node_modules/node/bin/node";

interface AppFile {
  /** Path in the checkout; a folder means all its files. */
  readonly source: string;
  /** Path in the image, without the first slash. */
  readonly target: string;
}

export const APP_FILES: readonly AppFile[] = [
  { source: NODE_PROGRAM, target: `app/${NODE_PROGRAM}` },
  { source: "packages/gateway/dist", target: "app/packages/gateway/dist" },
  { source: "packages/gateway/data", target: "app/packages/gateway/data" },
  { source: "packages/console/dist", target: "app/packages/console/dist" },
  { source: "packages/cli/dist", target: "app/packages/cli/dist" },
  { source: "deploy/fairway-gateway", target: "usr/local/bin/fairway-gateway" },
  { source: "deploy/fairway", target: "usr/local/bin/fairway" },
];

/** A number, because Kubernetes cannot know that a name is not root. */
export const USER_ID = 65532;

export const SETTINGS = {
  user: `${USER_ID}:${USER_ID}`,
  workdir: "/app",
  env: { FAIRWAY_HOST: "0.0.0.0", FAIRWAY_DATA_DIR: "/data", FAIRWAY_DEMO: "off", ...ALLOCATOR },
  entrypoint: [`/app/${NODE_PROGRAM}`, ...NODE_FLAGS, "/app/packages/gateway/dist/main.mjs"],
  ports: [3000, 9090],
  volume: "/data",
} as const;

/** Folder of the licence texts in the image. */
export const LICENCES = "usr/share/licenses/fairway";

/** Debian packages that Node and the two shell scripts require, and the one that names the system to scanners. */
export const DEBIAN_PACKAGES = [
  "base-files",
  "ca-certificates",
  "dash",
  "libatomic1",
  "libc6",
  "libgcc-s1",
  "libstdc++6",
] as const;
