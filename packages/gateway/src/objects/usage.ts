import { AppError } from "../lib/app-error.ts";
import { upsertSql } from "../storage/inserts.ts";
import type { RawDatabase, RawTransaction } from "../storage/engines/raw.ts";
import type { ObjectDialect } from "../providers/core/types.ts";

/** What one user may store. */
export interface Quota {
  readonly bytes: number;
  readonly files: number;
}

export interface Usage {
  readonly files: number;
  readonly bytes: number;
}

const MEGABYTE = 1024 * 1024;
const ROW = { table: "object_usage", columns: ["user_id", "files", "bytes"], key: ["user_id"] } as const;

export async function readUsage(tx: RawTransaction, userId: number): Promise<Usage> {
  const [row] = await tx.rows<Usage>("select files, bytes from object_usage where user_id = ?", [userId]);
  return { files: row?.files ?? 0, bytes: row?.bytes ?? 0 };
}

/** Returns what all users store. */
export async function readTotal(tx: RawTransaction): Promise<Usage> {
  const sql = "select sum(files) as files, sum(bytes) as bytes from object_usage";
  const [row] = await tx.rows<Usage>(sql, []);
  return { files: Number(row?.files ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/** Adds to a user's usage if that stays within the quota; returns false if it does not. Without a quota it always fits. */
export async function takeUsage(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  { userId, files, bytes }: Usage & { readonly userId: number },
  quota?: Quota,
): Promise<boolean> {
  await tx.run(upsertSql(kind, ROW), [userId, 0, 0]);
  const limits = quota ? " and files + ? <= ? and bytes + ? <= ?" : "";
  const sql = `update object_usage set files = files + ?, bytes = bytes + ? where user_id = ?${limits}`;
  const bounds = quota ? [files, quota.files, bytes, quota.bytes] : [];
  return (await tx.run(sql, [files, bytes, userId, ...bounds])) > 0;
}

/** Takes away from a user's usage. */
export async function freeUsage(
  tx: RawTransaction,
  { userId, files, bytes }: Usage & { readonly userId: number },
): Promise<void> {
  const sql = "update object_usage set files = files - ?, bytes = bytes - ? where user_id = ?";
  await tx.run(sql, [files, bytes, userId]);
}

/** Each protocol has its own status for a full store. */
const STATUSES: Readonly<Record<ObjectDialect, number>> = { openai: 403, anthropic: 400, gemini: 429 };

/** The error of a store that is full. */
export function refuseFull(dialect: ObjectDialect, used: Usage, { bytes, files }: Quota): AppError {
  const isCount = used.files >= files;
  const message = isCount
    ? `You store ${used.files} of ${files} files: delete some of them first.`
    : `Your stored files use ${Math.ceil(used.bytes / MEGABYTE)} of ${Math.floor(bytes / MEGABYTE)} MB.`;
  return new AppError("storage_quota_exceeded", {
    status: STATUSES[dialect],
    message,
    retryable: false,
    details: { error_code: "storage_quota_exceeded" },
  });
}
