import { longText } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** What the upstream's own list says of its models: model lists here repeat it. */
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
