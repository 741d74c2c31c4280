import { execFile } from "node:child_process";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A file system of its own for a replica, which can be full. */
export interface Disk {
  readonly folder: string;
  /** Leaves no byte free. Does nothing for a folder that shares its file system with others. */
  fill(): Promise<void>;
  free(): Promise<void>;
  stop(): Promise<void>;
}

const SIZE = "64m";
const CHUNK = Buffer.alloc(1 << 16);
const call = promisify(execFile);

/** Mounts a small file system if this process may; otherwise returns a folder. */
export async function createDisk(): Promise<Disk> {
  const folder = await mkdtemp(join(tmpdir(), "fairway-disk-"));
  const isOwn = await call("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", folder]).then(
    () => true,
    () => false,
  );
  const filler = join(folder, "filler");
  return {
    folder,
    async fill() {
      if (!isOwn) return;
      const file = await open(filler, "w");
      try {
        for (let size = CHUNK.length; size >= 1;) {
          const isWritten = await file.write(CHUNK, 0, size).catch(() => undefined);
          if (!isWritten) size = Math.floor(size / 2);
        }
      } finally {
        await file.close();
      }
    },
    free: () => rm(filler, { force: true }),
    async stop() {
      if (isOwn) await call("umount", ["-l", folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
