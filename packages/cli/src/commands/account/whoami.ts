import { ROLE, selfGet, showQuota, status, type Client } from "@fairway/wire";
import type { Profile } from "../../session/config.ts";
import { isForPeople, printOne, type Output } from "../../print/output.ts";
import { endText, tokenEnd } from "./token-end.ts";

export const ROLE_WORD: Readonly<Record<number, string>> = {
  [ROLE.user]: "user",
  [ROLE.admin]: "administrator",
  [ROLE.root]: "super administrator",
};

export async function whoAmI(client: Client, profile: Profile, output: Output): Promise<void> {
  const { server } = profile;
  const { data: self } = await client.call(selfGet, {});
  const { id, username, role, group, quota, used_quota, request_count } = self;
  const end = await tokenEnd(client, profile);
  const token = end === undefined ? {} : { token_expires_at: end };
  const facts = { server, id, username, role, group, quota, used_quota, request_count, ...token };
  if (!isForPeople(output)) return printOne(output, facts, { quotas: ["quota", "used_quota"] });
  const { data: info } = await client.call(status, {});
  const style = { quotaPerUnit: info.quota_per_unit, inCurrency: info.display_in_currency };
  const words = {
    server,
    user: `${username} (${id})`,
    role: `${ROLE_WORD[role] ?? "guest"} (${role})`,
    group,
    balance: showQuota(quota, style),
    used: `${showQuota(used_quota, style)} in ${request_count} charged calls`,
    ...(end === undefined ? {} : { token: endText(end) }),
  };
  await printOne(output, facts, { words });
}
