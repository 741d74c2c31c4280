import { AppError } from "../lib/app-error.ts";
import { createSpool, type Spool } from "../relay/body/spool.ts";

export interface SpoolLimits {
  readonly maxUploads: number;
  /** Bytes of all spools of this process together. */
  readonly maxSpoolBytes: number;
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
const SPOOL_RETRY_MS = 5_000;

export function createSpoolRoom({ maxUploads, maxSpoolBytes }: SpoolLimits): SpoolRoom {
  let uploads = 0;
  let bytes = 0;
  return {
    enter() {
      if (uploads >= maxUploads)
        throw new AppError("concurrency_limit_exceeded", {
          values: { seconds: RETRY_SECONDS },
          retryAfterMs: RETRY_SECONDS * 1_000,
        });
      uploads += 1;
      let own = 0;
      const spool = createSpool();
      return {
        spool,
        write(chunk) {
          if (bytes + chunk.length > maxSpoolBytes) throw new AppError("spool_full", { retryAfterMs: SPOOL_RETRY_MS });
          own += chunk.length;
          bytes += chunk.length;
          return spool.write(chunk);
        },
        async leave() {
          uploads -= 1;
          bytes -= own;
          await spool.dispose();
        },
      };
    },
  };
}
