import { QUOTA_PER_UNIT } from "../../packages/wire/src/core/constants.ts";
import { DEFAULT_TEAM_SETTINGS } from "../../packages/wire/src/teams/team-settings.ts";
import { transact } from "../../packages/gateway/src/storage/transaction.ts";
import { alignIds } from "../../packages/gateway/src/resources/import/databases/rows.ts";
import { addMember } from "../../packages/gateway/src/teams/members.ts";
import { createServiceAccount } from "../../packages/gateway/src/teams/service-accounts.ts";
import { createTeam } from "../../packages/gateway/src/teams/teams.ts";
import type { Making, SampleToken, SampleUser } from "./entities.ts";
import { highest, tokenRow } from "./rows.ts";

const NAMES = ["Research", "Support", "Web shop", "Data platform", "Mobile", "Security", "Marketing", "Billing"];
const ROLES = ["owner", "admin", "member", "member", "viewer"] as const;
const APPS = ["shop", "search", "chat", "reports"] as const;
const STAGES = ["prod", "test"] as const;
const KEYS_OF_TEAM = 3;
const TAGS = { keys: { app: {}, env: {} } };
const TEAM_LIMIT = 500 * QUOTA_PER_UNIT;
const MEMBER_LIMIT = 50 * QUOTA_PER_UNIT;

/** A key of a team; `user` is the index of its wallet. */
interface Made {
  readonly wallets: readonly SampleUser[];
  readonly keys: readonly SampleToken[];
}

/** Creates teams with members, a service account, keys with tags, and budgets; their events tell who joined. */
export async function makeTeams(making: Making, people: readonly SampleUser[]): Promise<Made> {
  const wallets: SampleUser[] = [];
  const keys: SampleToken[] = [];
  for (let index = 0; index < making.plan.teams; index++) {
    const members = chooseMembers(people, index);
    const { wallet, made } = await makeTeam(making, { index, members });
    wallets.push(wallet);
    keys.push(...made.map((key) => ({ ...key, user: index })));
  }
  await alignIds(making.database, ["tokens"]);
  return { wallets, keys };
}

/** People are in several teams if there are few of them. */
function chooseMembers(people: readonly SampleUser[], index: number): readonly SampleUser[] {
  const wanted = ROLES.map((_, at) => people[(index * 3 + at) % people.length]);
  return [...new Set(wanted)].filter((one) => one !== undefined);
}

interface Wanted {
  readonly index: number;
  readonly members: readonly SampleUser[];
}

async function makeTeam({ database: { db }, vault, plan }: Making, { index, members }: Wanted) {
  const since = plan.until - plan.days * 86_400;
  const name = `${NAMES[index % NAMES.length]}${index < NAMES.length ? "" : ` ${index + 1}`}`;
  const slug = `${name.toLowerCase().replaceAll(" ", "-")}-${(await highest(findLast(db))) + 1}`;
  return transact(db, async (trx) => {
    const owner = members[0]?.id ?? 0;
    const settings = { ...DEFAULT_TEAM_SETTINGS, tags: TAGS };
    const labels = { cost_centre: String(4_700 + index) };
    const who = { ownerId: owner, createdBy: owner, source: "manual", nowMs: since * 1_000 };
    const team = await createTeam(trx, { name, slug, description: "", labels, settings, group: "default", ...who });
    for (const [at, { id }] of members.entries()) {
      const role = ROLES[at] ?? "member";
      const joined = { userId: id, role, source: "link", addedBy: owner, nowMs: (since + at * 3_600) * 1_000 };
      if (at > 0) await addMember(trx, { ...team, name, slug }, joined);
    }
    const account = { teamId: team.id, name: "ci", description: "Nightly jobs", createdBy: owner, now: since };
    const service = await createServiceAccount(trx, account);
    const first = (await highest(trx.selectFrom("tokens").select((eb) => eb.fn.max("id").as("id")))) + 1;
    const made = Array.from({ length: KEYS_OF_TEAM }, (_, at) => {
      const app = APPS[(index + at) % APPS.length] ?? APPS[0];
      const env = STAGES[at % STAGES.length] ?? STAGES[0];
      const isService = at === KEYS_OF_TEAM - 1;
      const member = members[at % members.length]?.id ?? owner;
      const actor = isService ? `s${service}` : `u${member}`;
      const key = { id: first + at, name: `${app}-${env}`, isUnlimited: true, actor, tags: `app=${app}|env=${env}` };
      const holder = isService ? { service_account_id: service } : { member_id: member };
      return { key, row: { holder, fixed_tags: JSON.stringify({ app, env }) } };
    });
    for (const { key, row } of made) {
      const plain = tokenRow(vault, { id: key.id, userId: team.accountId, name: key.name, createdAt: since });
      await trx
        .insertInto("tokens")
        .values({ ...plain, ...row.holder, fixed_tags: row.fixed_tags })
        .execute();
    }
    const budget = {
      period: "month",
      time_zone: "UTC",
      soft_percent: 80,
      is_hard: 1,
      window_start: 0,
      managed_by: "team",
    };
    const limits = [
      { ...budget, scope: "team", subject: String(team.id), quota_limit: TEAM_LIMIT },
      { ...budget, scope: "member", subject: `${team.id}:${owner}`, quota_limit: MEMBER_LIMIT },
    ];
    await trx.insertInto("budgets").values(limits).execute();
    const wallet = { id: team.accountId, username: name, group: "default", isWallet: true };
    return { wallet, made: made.map(({ key }) => key) };
  });
}

function findLast(db: Making["database"]["db"]) {
  return db.selectFrom("teams").select((eb) => eb.fn.max("id").as("id"));
}
