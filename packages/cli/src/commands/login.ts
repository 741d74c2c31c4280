import { accessTokenCreate, createClient, login, selfGet, status, type Fetch } from "@fairway/wire";
import { hostname } from "node:os";
import { writeProfile, type Profile } from "../config.ts";
import { CliError, EXIT } from "../exit.ts";
import type { Output } from "../print/output.ts";
import { ask, readStdin } from "../prompt.ts";
import { clientOf, fetchJson } from "../session.ts";

export interface LoginOptions {
  readonly username?: string;
  readonly tokenStdin?: boolean;
  readonly insecureHttp?: boolean;
}

const LOOPBACK = /^(localhost|127(?:\.\d+){3}|\[::1\])$/;

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
}

function addressOf(server: string, options: LoginOptions): string {
  const url = URL.parse(server.includes("://") ? server : `https://${server}`);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new CliError(`${server} is not an http(s) address`, EXIT.usage);
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname) && !options.insecureHttp) {
    throw new CliError(
      `${url.origin} would carry the token unencrypted`,
      EXIT.usage,
      "use https, or --insecure-http if you know the network",
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

async function byToken(server: string): Promise<Profile> {
  const token = await readStdin();
  if (token === "") throw new CliError("standard input holds no token", EXIT.usage);
  return { server, userId: 0, token };
}

async function byPassword(server: string, named: string | undefined): Promise<Profile> {
  const username = named ?? (await ask("Username"));
  const password = await ask("Password", true);
  let cookie = "";
  const keeping: Fetch = async (url, init) => {
    const answer = await fetch(url, {
      method: init.method,
      headers: init.headers,
      redirect: "error",
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    cookie =
      answer.headers
        .getSetCookie()
        .map((line) => line.split(";", 1)[0])
        .join("; ") || cookie;
    return answer;
  };
  const { data: user } = await createClient({ baseUrl: server, fetch: keeping }).call(login, {
    body: { username, password },
  });
  const session = createClient({
    baseUrl: server,
    fetch: keeping,
    headers: () => ({ Cookie: cookie, "New-Api-User": String(user.id) }),
  });
  const { data: token } = await session.call(accessTokenCreate, { body: { name: `cli ${hostname()}`.slice(0, 64) } });
  return { server, userId: user.id, token };
}
