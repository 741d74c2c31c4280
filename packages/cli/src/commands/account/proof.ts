import { selfGet, type Client } from "@fairway/wire";
import type { Session } from "../../session/session.ts";
import { ask, readPassword } from "../../terminal/prompt.ts";
import { signInByPassword } from "./login.ts";

/** Some changes need a proof of the person: an access token does not suffice. */
export interface Proof {
  readonly passwordStdin?: boolean;
}

/** Opens a session with the person's password, for calls that need a fresh proof. */
export async function openProven({ client, profile, transport }: Session, { passwordStdin }: Proof): Promise<Client> {
  const { data: user } = await client.call(selfGet, {});
  const password = passwordStdin ? await readPassword() : await ask(`Password of ${user.username}`, true);
  return (await signInByPassword(transport, profile.server, { username: user.username, password })).client;
}
