import { longText } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** The properties that the upstream's own list gives for its models; the gateway's model lists repeat them. */
export const listedModels: Migration = {
  version: 28,
  name: "models as upstreams list them",
  steps: [
    async (on) => {
      if (await on.hasColumn("channels", "listed_models")) return;
      await on.run(`alter table channels add column listed_models ${longText().type[on.kind]}`);
    },
  ],
};
