// The image of this checkout for a cluster of real nodes, and a volume, which such a cluster has no storage class for.
import { spawn } from "node:child_process";
import { chownSync, globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { NodeCluster } from "./cluster.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** The account of the image. */
const ACCOUNT = 65_532;

/** Runs `npm run build -- --image`, which skips current programs; returns the archive. */
export async function buildImage(): Promise<string> {
  const script = join(ROOT, "scripts/build.ts");
  const child = spawn(process.execPath, [script, "--stale", "--image"], { cwd: ROOT, stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const [archive] = globSync(join(ROOT, "dist/fairway-gateway-*.tar"));
  if (code !== 0 || !archive) throw new Error("the image was not built");
  return archive;
}

/** Creates a volume for one claim, in a folder of this machine that ends with the cluster. */
export async function createVolume({ folder, apply }: NodeCluster, name: string): Promise<void> {
  const path = join(folder ?? "", `volume-${name}`);
  mkdirSync(path);
  chownSync(path, ACCOUNT, ACCOUNT);
  await apply(
    JSON.stringify({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: { capacity: { storage: "5Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path } },
    }),
  );
}
