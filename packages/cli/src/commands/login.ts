import {
  accessTokenCreate,
  ApiProblem,
  createClient,
  login,
  selfGet,
  status,
  type Client,
  type Fetch,
} from "@fairway/wire";
import { hostname } from "node:os";
import { currentContext, useContext } from "../contexts.ts";
import { isLoopback, readAddress, readToken, writeProfile, type Profile } from "../config.ts";
import { CliError, EXIT } from "../exit.ts";
import type { Output } from "../print/output.ts";
import { ask, readStdin } from "../prompt.ts";
import { clientOf, fetchJson } from "../session.ts";

export interface LoginOptions {
  readonly username?: string;
  readonly tokenStdin?: boolean;
  readonly insecureHttp?: boolean;
}

/** Signs in by password (asked, never a flag) or by a token from standard input, and remembers the result. */
export async function runLogin(
  server: string,
  options: LoginOptions,
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const address = addressOf(server, options);
  await createClient({ baseUrl: address, fetch: fetchJson }).call(status, {});
  const profile = options.tokenStdin ? await byToken(address) : await byPassword(address, options.username);
  const { data: user } = await clientOf(profile).call(selfGet, {});
  const path = writeProfile(env, { ...profile, userId: user.id });
  output.note(`Signed in to ${address} as ${user.username} (role ${user.role}). The token is kept in ${path}.`);
  const context = env["FAIRWAY_CONTEXT"];
  if (!context || context === currentContext(env)) return;
  useContext(env, context);
  output.note(`Commands go to ${context} now; change that with \`fairway context use\`.`);
}

function addressOf(server: string, options: LoginOptions): string {
  const address = readAddress(server, "the server");
  const url = new URL(address);
  if (url.protocol === "http:" && !isLoopback(url) && !options.insecureHttp) {
    throw new CliError(
      `${url.origin} would carry the token unencrypted`,
      EXIT.usage,
      "use https, or --insecure-http if you know the network",
    );
  }
  return address;
}

async function byToken(server: string): Promise<Profile> {
  return { server, userId: 0, token: readToken(await readStdin("Access token"), "standard input") };
}

async function byPassword(server: string, named: string | undefined): Promise<Profile> {
  const username = named ?? (await ask("Username")).trim();
  const password = await ask("Password", true);
  let cookie = "";
  const keeping: Fetch = async (url, init) => {
    const answer = await fetchJson(url, init);
    cookie =
      answer.headers
        .getSetCookie()
        .map((line) => line.split(";", 1)[0])
        .join("; ") || cookie;
    return answer;
  };
  const user = await signIn(createClient({ baseUrl: server, fetch: keeping }), username, password);
  const session = createClient({
    baseUrl: server,
    fetch: keeping,
    headers: () => ({ Cookie: cookie, "New-Api-User": String(user.id) }),
  });
  const tokenName = `cli ${hostname()}`.slice(0, 64);
  const { data: token } = await session.call(accessTokenCreate, { body: { name: tokenName } });
  return { server, userId: user.id, token, tokenName };
}

async function signIn(client: Client, username: string, password: string) {
  try {
    return (await client.call(login, { body: { username, password } })).data;
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== "L5") throw error;
  }
  const code = (await ask("Code of your authenticator, or a recovery code", true)).trim();
  return (await client.call(login, { body: { username, password, code } })).data;
}
