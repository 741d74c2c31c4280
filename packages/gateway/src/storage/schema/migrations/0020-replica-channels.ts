import { longText } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** Each replica reports which channels serve its requests. */
export const replicaChannels: Migration = {
  version: 20,
  name: "channels of replicas",
  steps: [
    async (on) => {
      if (await on.hasColumn("replicas", "channels")) return;
      await on.run(`alter table replicas add column channels ${longText().type[on.kind]}`);
    },
  ],
};
