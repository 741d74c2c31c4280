import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createOwnershipStore } from "./ownership.ts";

eachDatabase("ownership store", (open) => {
  let kit: StoreKit;
  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());

  test("keeps, replaces and forgets who owns what", async () => {
    const store = createOwnershipStore(kit);
    const owned = {
      kind: "Channel",
      name: "a",
      resource_id: 1,
      owner: "x",
      fields: ["models"],
      deletionPolicy: "Disable" as const,
    };
    await store.keep(owned);
    await store.keep({ ...owned, kind: "Token" });
    await store.keep({ ...owned, resource_id: 2, fields: ["models", "模型"] });
    await store.keep({ ...owned, resource_id: 2, fields: ["models", "模型"] });
    expect(await store.all()).toEqual([
      { ...owned, resource_id: 2, fields: ["models", "模型"] },
      { ...owned, kind: "Token" },
    ]);
    await store.forget("Channel", "a");
    await kit.database.db.updateTable("managed_resources").set({ fields: null }).execute();
    expect(await store.all()).toEqual([{ ...owned, kind: "Token", fields: [], deletionPolicy: "Orphan" }]);
  });
});
