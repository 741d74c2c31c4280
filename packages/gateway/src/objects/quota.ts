import type { OptionValues } from "@fairway/wire";
import type { Caller } from "../identity/authentication/caller.ts";
import { AppError } from "../lib/app-error.ts";
import type { Quota } from "./usage.ts";

const MEGABYTE = 1024 * 1024;

type QuotaOptions = Pick<OptionValues, "FileUserMegabytes" | "FileUserCount" | "FileGroupQuotas">;

/** Returns what a user of the group may store. */
export function findQuota(group: string, options: QuotaOptions): Quota {
  const own = Object.hasOwn(options.FileGroupQuotas, group) ? options.FileGroupQuotas[group] : undefined;
  return {
    bytes: (own?.megabytes ?? options.FileUserMegabytes) * MEGABYTE,
    files: own?.count ?? options.FileUserCount,
  };
}

/** The same for uploads; throws `files_not_allowed` if the group stores none. */
export function requireQuota({ userGroup }: Pick<Caller, "userGroup">, options: QuotaOptions): Quota {
  const quota = findQuota(userGroup, options);
  if (quota.bytes === 0 || quota.files === 0) throw new AppError("files_not_allowed", { values: { group: userGroup } });
  return quota;
}
