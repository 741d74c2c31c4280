import { fileDelete, fileList, fileListSelf, fileUsage, resolvePage, ROLE, type OptionValues } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { AppError } from "../../lib/app-error.ts";
import { Refusal } from "../../lib/refusal.ts";
import { findQuota } from "../../objects/quota.ts";
import type { StoredObject } from "../../objects/stored-object.ts";
import type { ObjectStore } from "../../objects/store.ts";
import { storedAccountRoutes, type AccountRoutesDeps } from "./accounts.ts";
import type { FileStore } from "./store.ts";

/** What the management of files uses of the part that stores them. */
export interface StoredFiles {
  readonly objects: Pick<ObjectStore, "find" | "usage">;
  /** Deletes a file at its provider, then its row. */
  readonly remove: (object: StoredObject) => Promise<void>;
  /** Returns the marks of a channel's keys in their order; undefined if there is no such channel. */
  readonly listMarks: (channelId: number) => readonly string[] | undefined;
  /** Counts the requests that this process serves through a channel, by the marks of their keys. */
  readonly countRunning: (channelId: number) => ReadonlyMap<string, number>;
}

export interface FileRoutesDeps extends StoredFiles, AccountRoutesDeps {
  readonly store: FileStore;
  readonly options: () => OptionValues;
}

export function fileRoutes({ store, objects, remove, options, ...accounts }: FileRoutesDeps): Route[] {
  return [
    ...storedAccountRoutes(accounts),
    implement(fileList, async (call) => {
      const { rows, total } = await store.page({ ...call.query, ...resolvePage(call.query) });
      call.setTotal(total);
      return rows;
    }),
    implement(fileListSelf, async (call) => {
      const own = { ...call.query, ...resolvePage(call.query), user_id: call.caller.userId, channel_id: 0 };
      const { rows, total } = await store.page(own);
      call.setTotal(total);
      return rows.map((row) => ({ ...row, channel_id: 0 }));
    }),
    implement(fileUsage, async ({ caller }) => {
      const { files, bytes } = await objects.usage(caller.userId);
      const quota = findQuota(caller.group, options());
      return { files, bytes, max_files: quota.files, max_bytes: quota.bytes };
    }),
    implement(fileDelete, async ({ params: { id }, caller }) => {
      const owner = caller.role >= ROLE.admin ? await store.findOwner(id) : caller.userId;
      const object = owner === undefined ? undefined : await objects.find(id, { userId: owner });
      if (object?.kind !== "file") throw new Refusal("stored_file_not_found");
      await remove(object).catch((error: unknown) => {
        throw error instanceof AppError
          ? new Refusal("stored_file_not_deleted", { values: { reason: error.message }, cause: error })
          : error;
      });
    }),
  ];
}
