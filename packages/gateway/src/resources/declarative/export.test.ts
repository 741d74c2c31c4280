import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../test/kit/members.ts";
import { listActions, budgetDocument, channelDocument, documentCalls, tokenDocument } from "./documents-kit.ts";

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
  /** Users of the export are tested together with their kind. */
  const exported = async () => {
    const all = await members.root.data<{ kind: string }[]>(members.root.get("/api/declarative/export"));
    return all.filter(({ kind }) => kind !== "User");
  };
  /** Removes the keys, which are not exported, and disables the channels without one. */
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
    const changed = listActions(await calls.plan(documents)).filter((one) => !one.endsWith("unchanged"));
    expect(changed).toEqual(["channel-main-month: conflict"]);
    await empty();
    await calls.apply(documents);
    expect(withoutKeys(await exported())).toBe(withoutKeys(documents));
    const tokens = await app.database.db.selectFrom("tokens").select("remain_quota").execute();
    expect(tokens).toEqual([{ remain_quota: 700 }]);
  });

  /** Columns of a channel that no document contains: counters, times, and keys, which are references. */
  const OWN = [
    "id",
    "key_sealed",
    "key_hash",
    "created_time",
    "status",
    "header_override",
    "setting",
    "param_override",
  ];

  test("holds every setting of a channel", async () => {
    await empty();
    const form = {
      name: "full",
      type: 1005,
      key: "k",
      models: "a,b",
      group: "default,vip",
      base_url: "https://up.example",
      model_mapping: '{"a":"b"}',
      status_code_mapping: '{"404":"500"}',
      test_model: "a",
      tag: "t",
      auto_ban: 0,
      priority: 4,
      weight: 2,
      max_input_tokens: 900,
      cost_ratio: 0.75,
      openai_organization: "org",
      setting: '{"drop_params":["user"],"limits":{"rpm":5}}',
      param_override: '{"temperature":0.5,"stop":["x"]}',
      header_override: '{"x-title":"Fairway"}',
    };
    await members.root.data(members.root.post("/api/channel/", form));
    const rows = () => app.database.db.selectFrom("channels").selectAll().execute();
    const texts = async () => {
      const [{ id } = { id: 0 }] = await rows();
      const row = await app.operations.channels.store.get(id);
      return [row?.setting, row?.param_override, row?.header_override].map(
        (text) => JSON.parse(text ?? "{}") as object,
      );
    };
    const plain = async () => Object.entries((await rows())[0] ?? {}).filter(([name]) => !OWN.includes(name));
    const [before, textsBefore, documents] = [await plain(), await texts(), await exported()];
    expect((await calls.plan(documents)).map(({ action }) => action)).toEqual(["unchanged"]);
    await empty();
    await calls.apply(documents);
    expect(await plain()).toEqual(before);
    expect(await texts()).toEqual(textsBefore);
  });

  // @weakness Providers' keys: An export leaves settings of channels out, and its hints are stored in place of secrets elsewhere
  test("names the secrets that it shows as hints, before anything is written", async () => {
    await empty();
    const form = { name: "gated", type: 1, key: "k", models: "m", header_override: '{"x-gate":"hidden-value-1"}' };
    await members.root.data(members.root.post("/api/channel/", form));
    const documents = await exported();
    expect(JSON.stringify(documents)).not.toContain("hidden-value-1");
    expect(await calls.plan(documents)).toMatchObject([{ action: "unchanged" }]);
    const shown = { ...channelDocument("gated"), spec: { headerOverride: { "x-gate": "another-value-2" } } };
    expect(JSON.stringify(await calls.plan([{ ...shown, spec: { type: "openai", ...shown.spec } }]))).not.toMatch(
      /hidden-value|another-value/,
    );
    await empty();
    for (const call of ["plan", "apply"]) {
      const body = { manager: "file:test", documents: [channelDocument("first"), ...documents] };
      const { message } = (await members.root.post(`/api/declarative/${call}`, body)).body;
      expect(message).toContain(
        "The document gated cannot be used: a new channel needs the secrets themselves in place of **** in headerOverride",
      );
    }
    expect(await app.database.db.selectFrom("channels").select("id").execute()).toEqual([]);
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
      expect(message).toContain("there is no user first: create the account first, or describe it");
      expect(message).toContain("b: there is no user second");
      expect(message).toContain("cap: there is no user third");
    }
    expect(await app.database.db.selectFrom("channels").select("id").execute()).toEqual([]);
  });
});
