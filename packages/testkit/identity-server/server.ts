// An OpenID provider of another project: the Go library github.com/zitadel/oidc with the storage and the login page
// of its example, compiled once, then cached.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessHost } from "../cluster/process-host.ts";
import { buildPrograms } from "../cluster/programs.ts";
import { createGuard } from "../src/services/guard.ts";
import { freePort } from "../src/services/process.ts";

/** A person at the provider, by its own names. */
interface IdentityServerUser {
  readonly Username: string;
  readonly Password: string;
  readonly FirstName?: string;
  readonly LastName?: string;
  readonly Email?: string;
  readonly EmailVerified?: boolean;
  /** Further claims of the profile. */
  readonly Claims?: Readonly<Record<string, unknown>>;
}

export interface IdentityServerSettings {
  /** By the provider's own id for the person. */
  readonly users: Readonly<Record<string, IdentityServerUser>>;
  readonly clientId: string;
  readonly secret: string;
  /** Where people come back to; signing out leads back to `afterLogout`. */
  readonly redirect: string;
  readonly afterLogout?: string;
  readonly backchannel?: string;
  /** What follows the port in the issuer: "", a slash, or a path. */
  readonly path?: string;
  readonly method?: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";
  readonly algorithm?: "RS256" | "PS256" | "ES256" | "EdDSA" | "HS256";
  /** The client's public key, a JWK with its `kid`. */
  readonly clientKey?: object;
  /** The library has two routers: one checks the code before the client, the newer one the client before the code. */
  readonly hasNewRouter?: boolean;
}

interface Visit {
  /** What the provider adds to the address of the way back. */
  readonly query: URLSearchParams;
  /** Pages that a person saw. */
  readonly pages: readonly string[];
}

export interface IdentityServer {
  readonly issuer: string;
  /** Follows the address as a browser does, fills in the login page, and returns how the provider sends the person back. */
  visit(address: string, user: Pick<IdentityServerUser, "Username" | "Password">): Promise<Visit>;
  /** Signs with a new key, and withdraws the one before. */
  rotateKey(): Promise<void>;
  /** Ends the person's session there; returns what the back-channel address answered. */
  endSession(subject: string): Promise<number>;
  stop(): Promise<void>;
}

const START_SECONDS = 30;
const MAX_STEPS = 10;

export async function startIdentityServer(settings: IdentityServerSettings): Promise<IdentityServer> {
  const programs = await buildPrograms("identity-server");
  const folder = await mkdtemp(join(tmpdir(), "fairway-identity-server-"));
  const guard = createGuard(folder);
  const host = new ProcessHost(join(folder, "log"));
  const stop = async () => {
    await host.close();
    guard.disarm();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const issuer = `${origin}${settings.path ?? ""}`;
    host.start("provider", join(programs, "identity-server"), await buildArguments(settings, { folder, port, issuer }));
    const document = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    await host.until(START_SECONDS, "provider", async () => (await fetch(document)).status === 200);
    const post = (path: string) => fetch(`${origin}${path}`, { method: "POST" });
    return {
      issuer,
      visit: (address, user) => visit(address, origin, user),
      async rotateKey() {
        const { status } = await post("/test/rotate");
        if (status !== 200) throw new Error(`the provider made no key: ${status}`);
      },
      endSession: async (subject) => (await post(`/test/end-session?sub=${subject}`)).status,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function buildArguments(
  settings: IdentityServerSettings,
  { folder, port, issuer }: { readonly folder: string; readonly port: number; readonly issuer: string },
): Promise<string[]> {
  const users = join(folder, "users.json");
  const people = Object.entries(settings.users).map(([ID, user]) => [ID, { PreferredLanguage: "en", ...user, ID }]);
  await writeFile(users, JSON.stringify(Object.fromEntries(people)));
  const clientKey = join(folder, "client-key.json");
  if (settings.clientKey) await writeFile(clientKey, JSON.stringify(settings.clientKey));
  const given = {
    port: String(port),
    issuer,
    users,
    client: settings.clientId,
    secret: settings.secret,
    redirect: settings.redirect,
    method: settings.method,
    algorithm: settings.algorithm,
    backchannel: settings.backchannel,
    "after-logout": settings.afterLogout,
    "client-key": settings.clientKey && clientKey,
    "new-router": settings.hasNewRouter && "true",
  };
  return Object.entries(given).flatMap(([name, value]) => (value ? [`-${name}=${value}`] : []));
}

/** Keeps cookies, follows redirects of the provider, and sends the form of its login page once. */
async function visit(
  address: string,
  origin: string,
  user: Pick<IdentityServerUser, "Username" | "Password">,
): Promise<Visit> {
  const cookies = new Cookies();
  const pages: string[] = [];
  let url = new URL(address);
  let form: URLSearchParams | undefined;
  for (let step = 0; step < MAX_STEPS && url.origin === origin; step += 1) {
    const sent = form ? { method: "POST", body: form } : {};
    const answer = await fetch(url, { redirect: "manual", headers: { cookie: cookies.header }, ...sent });
    cookies.keep(answer.headers);
    const location = answer.headers.get("location");
    if (location !== null) {
      form = undefined;
      url = new URL(location, url);
      continue;
    }
    const page = await answer.text();
    pages.push(page);
    if (form || answer.status !== 200 || !page.includes("<form")) return { query: new URLSearchParams(), pages };
    form = fillIn(page, user);
    url = new URL(/action="([^"]+)"/.exec(page)?.[1] ?? "", url);
  }
  return { query: url.searchParams, pages };
}

class Cookies {
  readonly #values = new Map<string, string>();

  get header(): string {
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  keep(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split(/=(.*)/s);
      this.#values.set(name, value);
    }
  }
}

function fillIn(page: string, { Username, Password }: Pick<IdentityServerUser, "Username" | "Password">) {
  const id = /name="id" value="([^"]*)"/.exec(page)?.[1] ?? "";
  return new URLSearchParams({ id, username: Username, password: Password });
}
