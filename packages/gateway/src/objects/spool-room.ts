import { AppError } from "../lib/app-error.ts";
import { createSpool, type Spool, type SpoolDisk } from "../relay/body/spool.ts";

export interface SpoolLimits {
  readonly maxUploads: number;
  /** The room that uploads share with the forms of model calls; undefined = without a limit. */
  readonly disk: SpoolDisk | undefined;
}

/** What one upload takes of this process: a place among the uploads, and room on its disk. */
export interface UploadPlace {
  /** Like `Spool.write`; throws `spool_full`. */
  write(chunk: Buffer): Promise<void> | undefined;
  readonly spool: Spool;
  /** Gives place and room back. */
  leave(): Promise<void>;
}

/** Bounds what uploads take of this process. */
export interface SpoolRoom {
  /** Throws `concurrency_limit_exceeded`. */
  enter(): UploadPlace;
}

const RETRY_SECONDS = 1;

export function createSpoolRoom({ maxUploads, disk }: SpoolLimits): SpoolRoom {
  let uploads = 0;
  return {
    enter() {
      if (uploads >= maxUploads)
        throw new AppError("concurrency_limit_exceeded", {
          values: { seconds: RETRY_SECONDS },
          retryAfterMs: RETRY_SECONDS * 1_000,
        });
      uploads += 1;
      const spool = createSpool(disk);
      return {
        spool,
        write: (chunk) => spool.write(chunk),
        async leave() {
          uploads -= 1;
          await spool.dispose();
        },
      };
    },
  };
}
