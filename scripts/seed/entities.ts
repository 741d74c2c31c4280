import { CHANNEL_STATUS, ROLE } from "../../packages/wire/src/core/constants.ts";
import { inChunks } from "../../packages/gateway/src/lib/chunks.ts";
import { accountRow } from "../../packages/gateway/src/identity/accounts/accounts.ts";
import { createPasswords } from "../../packages/gateway/src/identity/passwords/passwords.ts";
import { rebuildAbilities } from "../../packages/gateway/src/resources/channels/abilities.ts";
import type { Database } from "../../packages/gateway/src/storage/database.ts";
import { bump } from "../../packages/gateway/src/storage/revisions.ts";
import type { Vault } from "../../packages/gateway/src/storage/secrets/secrets.ts";
import { rawOn, transact } from "../../packages/gateway/src/storage/transaction.ts";
import { SAMPLE_MODELS } from "./models.ts";
import type { SeedPlan } from "./plan.ts";
import type { Random } from "./random.ts";
import { highest, tokenRow } from "./rows.ts";
import { makeTeams } from "./teams.ts";
import { alignIds } from "../../packages/gateway/src/resources/import/databases/rows.ts";
import { channelKey } from "../../packages/gateway/src/storage/secrets/sealed-locations.ts";

/** The password of every seeded user. */
export const SAMPLE_PASSWORD = "sample-password";

export interface SampleUser {
  readonly id: number;
  readonly username: string;
  readonly group: string;
  /** True for the wallet of a team. */
  readonly isWallet: boolean;
}

export interface SampleToken {
  readonly id: number;
  readonly name: string;
  /** Index in the list of users. */
  readonly user: number;
  readonly isUnlimited: boolean;
  /** Who uses it, as log rows have it; "" for keys of people. */
  readonly actor: string;
  /** Tags that its calls have, as log rows have them. */
  readonly tags: string;
}

export interface SampleChannel {
  readonly id: number;
  readonly models: string;
}

export interface Population {
  /** People, then the wallets of teams. */
  readonly users: readonly SampleUser[];
  readonly tokens: readonly SampleToken[];
  readonly channels: readonly SampleChannel[];
}

export interface Making {
  readonly database: Database;
  readonly vault: Vault;
  readonly plan: SeedPlan;
  readonly random: Random;
}

const ROWS_PER_INSERT = 200;
/** Port 9 discards data, and nothing listens on it, so that no call leaves the machine by mistake. */
const NOWHERE = "http://127.0.0.1:9";
const MODELS_PER_CHANNEL = 5;

/** Creates users, tokens and channels; their money and counters are set at the end. */
export async function populate(making: Making): Promise<Population> {
  const people = await makeUsers(making);
  const tokens = await makeTokens(making, people);
  const { wallets, keys } = await makeTeams(making, people);
  const ofTeams = keys.map((key) => ({ ...key, user: people.length + key.user }));
  return { users: [...people, ...wallets], tokens: [...tokens, ...ofTeams], channels: await makeChannels(making) };
}

async function makeUsers({ database: { db }, plan, random }: Making): Promise<SampleUser[]> {
  const last = await highest(db.selectFrom("users").select((eb) => eb.fn.max("id").as("id")));
  const passwordHash = await createPasswords().hash(SAMPLE_PASSWORD);
  const createdAt = plan.until - plan.days * 86_400;
  const rows = Array.from({ length: plan.users }, (_, index) => {
    const username = `user-${String(last + index + 1).padStart(5, "0")}`;
    const row = accountRow({ username, passwordHash, createdAt, role: ROLE.user });
    return { ...row, group: random() < 0.2 ? "vip" : "default" };
  });
  for (const some of inChunks(rows, ROWS_PER_INSERT)) await db.insertInto("users").values(some).execute();
  const made = db.selectFrom("users").select(["id", "username", "group"]).where("id", ">", last).orderBy("id");
  return (await made.execute()).map((user) => ({ ...user, isWallet: false }));
}

async function makeTokens({ database, vault, plan }: Making, users: SampleUser[]): Promise<SampleToken[]> {
  const { db } = database;
  const last = await highest(db.selectFrom("tokens").select((eb) => eb.fn.max("id").as("id")));
  const rows = Array.from({ length: plan.tokens }, (_, index) => {
    const id = last + index + 1;
    const name = `${["production", "staging", "notebook", "batch"][index % 4]}-${id}`;
    const createdAt = plan.until - plan.days * 86_400;
    const row = tokenRow(vault, { id, userId: users[index % users.length]?.id ?? 0, name, createdAt });
    return { ...row, unlimited_quota: index % 3 === 0 ? 1 : 0 };
  });
  for (const some of inChunks(rows, ROWS_PER_INSERT)) await db.insertInto("tokens").values(some).execute();
  await alignIds(database, ["tokens"]);
  const columns = ["id", "name", "unlimited_quota"] as const;
  const made = await db.selectFrom("tokens").select(columns).where("id", ">", last).orderBy("id").execute();
  return made.map(({ id, name, unlimited_quota }, index) => {
    return { id, name, user: index % users.length, isUnlimited: unlimited_quota === 1, actor: "", tags: "" };
  });
}

async function makeChannels({ database, vault, plan, random }: Making): Promise<SampleChannel[]> {
  const { db, kind } = database;
  const last = await highest(db.selectFrom("channels").select((eb) => eb.fn.max("id").as("id")));
  const rows = Array.from({ length: plan.channels }, (_, index) => channelRow(vault, random, index, last + index + 1));
  for (const some of inChunks(rows, ROWS_PER_INSERT)) await db.insertInto("channels").values(some).execute();
  await alignIds(database, ["channels"]);
  const columns = ["id", "models", "group", "status", "priority", "weight", "tag"] as const;
  const made = await db.selectFrom("channels").select(columns).where("id", ">", last).orderBy("id").execute();
  for (const some of inChunks(made, ROWS_PER_INSERT)) await transact(db, (trx) => rebuildAbilities(trx, some));
  await transact(db, (trx) => bump(rawOn(trx, kind), kind, "channels"));
  return made;
}

function channelRow(vault: Vault, random: Random, index: number, number: number) {
  const main = SAMPLE_MODELS[index % SAMPLE_MODELS.length] ?? SAMPLE_MODELS[0];
  const type = main?.type ?? 1;
  const others = SAMPLE_MODELS.filter((model) => model.type === type && model !== main && random() < 0.6);
  const models = [main, ...others].slice(0, MODELS_PER_CHANNEL).flatMap((model) => (model ? [model.name] : []));
  const key = `sk-sample-${number}`;
  return {
    id: number,
    type,
    key_sealed: vault.seal(key, channelKey(number)),
    key_hash: vault.hashKey(key),
    openai_organization: "",
    test_model: "",
    // The first ones are enabled, so that every model has one.
    status: index < SAMPLE_MODELS.length || random() < 0.95 ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand,
    name: `channel-${String(number).padStart(5, "0")}`,
    weight: Math.floor(random() * 10),
    created_time: 0,
    base_url: NOWHERE,
    other: "",
    models: models.join(","),
    group: random() < 0.3 ? "default,vip" : "default",
    model_mapping: "",
    status_code_mapping: "",
    priority: Math.floor(random() * 5),
    tag: random() < 0.5 ? `tag-${Math.floor(random() * 40)}` : null,
    setting: null,
    param_override: null,
  };
}
