import { INITIAL_TOKEN, ROLE } from "@fairway/wire";
import { seconds, type Clock } from "../lib/clock.ts";
import { newFields } from "../resources/channels/input.ts";
import type { ChannelStore } from "../resources/channels/store.ts";
import type { TokenStore } from "../resources/tokens/store.ts";
import type { Database } from "../storage/database.ts";
import { DEMO_MODEL } from "./upstream.ts";

export interface DemoDeps {
  readonly database: Database;
  readonly channels: ChannelStore;
  readonly tokens: TokenStore;
  readonly clock: Clock;
}

const KIND = "demo";
const CHANNEL = "channel";
const TOKEN = "token";
const OWNER = "demo";
/** Channel type of the OpenAI protocol. */
const CHANNEL_TYPE = 1;
const NAME = "Demo (echo)";
/** Requests of Responses API clients are converted. */
const SETTING = JSON.stringify({ responses_mode: "never" });

/**
 * Creates the demo channel and key once in the life of a database, and points the channel at this process's upstream.
 * What an operator deleted stays deleted. Returns the key while both still exist.
 */
export async function seedDemo(upstreamUrl: string, deps: DemoDeps): Promise<string | undefined> {
  const known = await remembered(deps);
  if (known.size === 0) return createDemo(upstreamUrl, deps);
  const channelId = known.get(CHANNEL) ?? 0;
  if (!(await deps.channels.get(channelId))) return undefined;
  await deps.channels.update(channelId, { base_url: upstreamUrl });
  const root = await rootId(deps);
  return root === undefined ? undefined : (await deps.tokens.get(root, known.get(TOKEN) ?? 0))?.key;
}

/** Deletes what `seedDemo` created. */
export async function removeDemo(deps: DemoDeps): Promise<void> {
  const known = await remembered(deps);
  const channelId = known.get(CHANNEL);
  const tokenId = known.get(TOKEN);
  const root = await rootId(deps);
  if (channelId !== undefined && (await deps.channels.get(channelId)))
    await deps.channels.remove([channelId], { isForced: true });
  if (tokenId !== undefined && root !== undefined && (await deps.tokens.get(root, tokenId)))
    await deps.tokens.remove(root, tokenId);
}

async function createDemo(upstreamUrl: string, deps: DemoDeps): Promise<string | undefined> {
  const root = await rootId(deps);
  const [first] = await deps.database.db.selectFrom("channels").select("id").limit(1).execute();
  if (root === undefined || first) return undefined;
  const fields = newFields(
    {
      name: NAME,
      type: CHANNEL_TYPE,
      models: DEMO_MODEL,
      base_url: upstreamUrl,
      test_model: DEMO_MODEL,
      tag: "demo",
      setting: SETTING,
    },
    () => true,
  );
  const [channelId = 0] = await deps.channels.create(fields, ["demo"]);
  const token = await deps.tokens.create(root, {
    ...INITIAL_TOKEN,
    name: "demo",
    unlimited_quota: 1,
  });
  const row = { kind: KIND, owner: OWNER, spec_hash: "", updated_at: seconds(deps.clock) };
  await deps.database.db
    .insertInto("managed_resources")
    .values([
      { ...row, name: CHANNEL, resource_id: channelId },
      { ...row, name: TOKEN, resource_id: token.id },
    ])
    .execute();
  return token.key;
}

async function remembered({ database }: DemoDeps): Promise<ReadonlyMap<string, number>> {
  const rows = await database.db
    .selectFrom("managed_resources")
    .select(["name", "resource_id"])
    .where("kind", "=", KIND)
    .execute();
  return new Map(rows.map((row) => [row.name, row.resource_id]));
}

async function rootId({ database }: DemoDeps): Promise<number | undefined> {
  const row = await database.db
    .selectFrom("users")
    .select("id")
    .where("role", "=", ROLE.root)
    .orderBy("id")
    .executeTakeFirst();
  return row?.id;
}
