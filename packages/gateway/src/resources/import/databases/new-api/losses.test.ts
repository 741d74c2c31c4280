import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DIRECT } from "../../../../lib/net/network.ts";
import { channel, token, user } from "../../../../../test/import/rows.ts";
import { NEW_API_RECENT, SourceDatabase } from "../../../../../test/import/source-database.ts";
import { openStoreKit, type StoreKit } from "../../../../../test/kit/store-kit.ts";
import { quietLog } from "../../../../../test/kit/support.ts";
import { GroupNames } from "../../groups.ts";
import { openForeign } from "../../../../storage/foreign.ts";
import { openTexts } from "../../../../storage/secrets/channel-texts.ts";
import { importCompatible } from "./import.ts";

const TABLES = [
  "users",
  "tokens",
  "channels",
  "abilities",
  "options",
  "ledger",
  "balance_outbox",
  "access_tokens",
] as const;
const RECENT = {
  ...NEW_API_RECENT,
  users: { ...NEW_API_RECENT["users"], setting: "text" },
  tokens: { ...NEW_API_RECENT["tokens"], auto_groups: "text" },
  channels: { ...NEW_API_RECENT["channels"], settings: "text", param_override: "text", header_override: "text" },
};

eachDatabase("losses of an import of a compatible gateway", (open) => {
  let kit: StoreKit;
  let sourceDatabase: SourceDatabase;

  beforeAll(async () => {
    kit = await openStoreKit(await open());
  });
  afterAll(() => kit.database.close());
  beforeEach(async () => {
    sourceDatabase = new SourceDatabase(await createDatabase(open.kind), open.kind);
    for (const table of TABLES) await kit.database.db.deleteFrom(table).execute();
    await sourceDatabase.create(RECENT);
  });

  const run = async (isDry: boolean) => {
    const source = openForeign(sourceDatabase.url, quietLog);
    const { database } = kit;
    const places = { target: database, logTarget: database, source, logSource: source };
    const how = { kind: "new-api", isDry, withLogs: false, origin: "here", onProgress: () => {} } as const;
    const prices = { areChannelsAsked: false, former: undefined, network: DIRECT };
    try {
      return (await importCompatible({ ...kit, ...places, ...how, prices, groups: new GroupNames() }))
        .lines()
        .join("\n");
    } finally {
      await source.close();
    }
  };

  test("are named with the channels, keys and accounts that have them, by the dry run too", async () => {
    const steps = [
      { path: "temperature", mode: "set", value: 0.1 },
      { path: "tools.0", mode: "delete" },
    ];
    await sourceDatabase.insert(
      "users",
      user(1, "root", { role: 100, setting: '{"quota_warning_threshold":500000}' }),
      user(2, "odd", { status: 5 }),
      user(3, "none", { status: 0 }),
    );
    await sourceDatabase.insert(
      "tokens",
      token(1, 1, { auto_groups: '["vip"]', allow_ips: "10.0.0.0/8\nour office" }),
      token(2, 1, { allow_ips: "10.0.0.1" }),
    );
    await sourceDatabase.insert(
      "channels",
      channel(7, 1, {
        setting: '{"system_prompt":"Answer in French.","system_prompt_override":true,"force_format":true}',
        settings: '{"disable_store":true,"allow_service_tier":false}',
        param_override: JSON.stringify({ operations: steps }),
        header_override: '{"X-Team":"a"}',
        model_mapping: "{broken",
        group: "no-such-group",
      }),
      channel(8, 1, { key: "", header_override: '{"X-Key":"{api_key}"}' }),
      channel(9, 1005, { key: "" }),
      channel(10, 54),
    );
    const dry = await run(true);
    const lines = await run(false);
    expect(lines).toBe(dry);
    for (const line of [
      "1 channels add a system prompt (setting.system_prompt): this is not imported (channel 7)",
      "1 channels have setting.force_format: this is not imported (channel 7)",
      "1 channels have settings.disable_store: this is not imported (channel 7)",
      "1 channels have param_override.operations[1] (delete): this is not imported (channel 7)",
      "1 channels override headers in a form that is not known here: this is not imported (channel 8)",
      "1 channels have a model_mapping that cannot be read: it is left out (channel 7)",
      "1 channel(s) without a key, off until one is set (channel 8)",
      "1 tokens have auto_groups: this is not imported (token 1)",
      "1 tokens have networks that cannot be read: they are disabled (token 1)",
      "1 users have setting: this is not imported (root)",
      "2 users have a status that is not known here: they are disabled (odd, none)",
      "the group no-such-group has no ratio here",
    ])
      expect(lines).toContain(line);
    expect(lines).not.toContain("allow_service_tier");
    const { db } = kit.database;
    const channels = await db.selectFrom("channels").selectAll().orderBy("id").execute();
    expect(channels.map(({ type, status }) => [type, status])).toEqual([
      [1, 1],
      [1, 2],
      [1005, 1],
      [45, 1],
    ]);
    expect(channels[0] && openTexts(channels[0], kit.vault)).toMatchObject({
      param_override: '{"temperature":0.1}',
      header_override: '{"X-Team":"a"}',
      setting: null,
      model_mapping: "",
    });
    const users = await db.selectFrom("users").select(["username", "status"]).orderBy("id").execute();
    expect(users.map(({ status }) => status)).toEqual([1, 2, 2]);
    const tokens = await db.selectFrom("tokens").select(["status", "allow_ips"]).orderBy("id").execute();
    expect(tokens).toEqual([
      { status: 2, allow_ips: "10.0.0.0/8" },
      { status: 1, allow_ips: "10.0.0.1" },
    ]);
  });

  test.each([
    ["users", "quota", { quota: 9_007_199_254_740_000, used_quota: 9_000 }, "quota and used_quota together are larger"],
    ["users", "quota", { quota: "9007199254740993" }, "the number 9007199254740993 is larger than 9007199254740991"],
    [
      "tokens",
      "remain_quota",
      { remain_quota: "9007199254740993" },
      "the number 9007199254740993 is larger than 9007199254740991",
    ],
    [
      "channels",
      "used_quota",
      { used_quota: "9007199254740993" },
      "the number 9007199254740993 is larger than 9007199254740991",
    ],
  ] as const)(
    "a number of %s.%s that is too large is refused with its place, by the dry run too",
    async (table, column, value, reason) => {
      await sourceDatabase.insert("users", user(1, "root", table === "users" ? value : {}));
      await sourceDatabase.insert("tokens", token(1, 1, table === "tokens" ? value : {}));
      await sourceDatabase.insert("channels", channel(1, 1, table === "channels" ? value : {}));
      for (const isDry of [true, false])
        await expect(run(isDry)).rejects.toThrow(`${table}, row 1, column ${column}: ${reason}`);
    },
  );

  test("a value that the database here cannot hold is refused with its place, by the dry run too", async () => {
    await sourceDatabase.insert(
      "users",
      user(1, "root", { role: 100 }),
      user(2, "ann", { display_name: "n".repeat(65) }),
    );
    await sourceDatabase.insert("channels", channel(3, 1, { group: "g".repeat(65) }));
    const isUnlimited = open.kind === "sqlite";
    const place = isUnlimited ? "channels, row 3, column group: " : "users, row 2, column display_name: ";
    for (const isDry of [true, false]) await expect(run(isDry)).rejects.toThrow(place);
    const refused = await kit.database.db.selectFrom("users").select("id").where("username", "=", "ann").execute();
    expect(refused).toHaveLength(isUnlimited ? 1 : 0);
  });

  test("every type of New API is taken over or named", async () => {
    await sourceDatabase.insert("users", user(1, "root", { role: 100 }));
    const types = Array.from({ length: 11 }, (_, at) => 51 + at);
    await sourceDatabase.insert("channels", ...types.map((type) => channel(type, type)));
    const lines = await run(false);
    const made = await kit.database.db.selectFrom("channels").select(["id", "type"]).orderBy("id").execute();
    expect(made).toEqual([
      { id: 53, type: 1 },
      { id: 54, type: 45 },
      { id: 55, type: 1 },
    ]);
    for (const type of ["51 (Jimeng)", "52 (Vidu)", "56 (Replicate)", "57 (Codex)", "58 (Kuaizi Lizhen)", "59", "61"])
      expect(lines).toContain(`has the type ${type}, which this gateway does not know`);
  });
});
