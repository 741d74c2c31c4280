import { passkeyList, selfGet, type User } from "@fairway/wire";
import { call } from "../../../lib/http.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { say } from "../texts.ts";

function isBound(user: User): boolean {
  const { github_id, wechat_id, telegram_id, linux_do_id, oidc_id } = user;
  return [github_id, wechat_id, telegram_id, linux_do_id, oidc_id].some((id) => id !== "");
}

/** Asks before password sign-in is disabled; warns users who would lock themselves out. */
export async function mayStopPasswords(): Promise<boolean> {
  const [self, passkeys] = await Promise.all([call(selfGet, {}), call(passkeyList, {})]);
  const isLockedOut = !isBound(self) && passkeys.length === 0;
  const body = isLockedOut ? `${say("passwordsOffBody")} ${say("passwordsOffSelf")}` : say("passwordsOffBody");
  return ask({ title: say("passwordsOffTitle"), body, confirm: say("passwordsOff"), isDangerous: true });
}
