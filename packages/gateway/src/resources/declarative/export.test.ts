import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../test/kit/members.ts";
import { actionsOf, budgetDocument, channelDocument, documentCalls, tokenDocument } from "./documents-kit.ts";

const TABLES = ["channels", "abilities", "tokens", "budgets", "managed_resources"] as const;

eachDatabase("an export of documents", (open) => {
  let app: ManagementApp;
  let members: Members;
  let calls: ReturnType<typeof documentCalls>;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
    calls = documentCalls(members.root);
  });
  afterAll(() => app.close());

  const empty = async () => {
    for (const table of TABLES) await app.database.db.deleteFrom(table).execute();
    await app.snapshots.refresh();
  };
  const exported = () => members.root.data<object[]>(members.root.get("/api/declarative/export"));
  /** The keys stay behind, and a channel without one is off. */
  const withoutKeys = (documents: readonly object[]) =>
    JSON.stringify(documents).replaceAll(/,?"(enabled|credentialsFrom)":(true|false|\{[^}]*\})/g, "");

  test("makes the same gateway elsewhere, where rows have other numbers", async () => {
    await empty();
    await calls.apply([channelDocument("filler")]);
    await calls.apply([
      channelDocument("main"),
      tokenDocument("ci", { quota: { amount: 700 } }),
      budgetDocument("cap", { scope: "channel", subject: "main" }),
    ]);
    const documents = await exported();
    const changed = actionsOf(await calls.plan(documents)).filter((one) => !one.endsWith("unchanged"));
    expect(changed).toEqual(["channel-main-month: conflict"]);
    await empty();
    await calls.apply(documents);
    expect(withoutKeys(await exported())).toBe(withoutKeys(documents));
    const tokens = await app.database.db.selectFrom("tokens").select("remain_quota").execute();
    expect(tokens).toEqual([{ remain_quota: 700 }]);
  });

  test("says everything that is lacking before anything is written", async () => {
    await empty();
    const owner = (username: string) => ({ owner: { username } });
    const documents = [
      channelDocument("main"),
      tokenDocument("a", owner("first")),
      tokenDocument("b", owner("second")),
      budgetDocument("cap", { subject: "third" }),
    ];
    for (const call of ["plan", "apply"]) {
      const body = { manager: "file:test", documents };
      const { message } = (await members.root.post(`/api/declarative/${call}`, body)).body;
      expect(message).toContain("there is no user first: create the account first");
      expect(message).toContain("b: there is no user second");
      expect(message).toContain("cap: there is no user third");
    }
    expect(await app.database.db.selectFrom("channels").select("id").execute()).toEqual([]);
  });
});
