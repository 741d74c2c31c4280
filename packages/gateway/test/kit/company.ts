import type { IdentityProvider, SignedInUser } from "@fairway/wire";
import { createDatabase, type DatabaseKind } from "@fairway/testkit/databases";
import type { ApiCaller, ApiReply } from "./api-caller.ts";
import { startManagementApp, type ManagementApp } from "./management-app.ts";
import { startOidcServer, type OidcServer } from "@fairway/testkit/oidc-server";
import { manualClock } from "./support.ts";

const ADDRESS = "https://gw.example";

/** A company with its own identity provider, and a gateway that its people sign in to. */
export interface Company {
  readonly app: ManagementApp;
  readonly oidc: OidcServer;
  readonly root: ApiCaller;
  /** The provider as the gateway knows it. */
  readonly provider: IdentityProvider;
  /** Changes the provider back to the settings of the beginning, with these differences. */
  setUp(change?: Record<string, unknown>): Promise<void>;
  /** Signs in who the provider names now. */
  signIn(caller?: ApiCaller): Promise<{ readonly caller: ApiCaller; readonly reply: ApiReply }>;
  /** Signs in and returns the user; fails if the sign-in is refused. */
  enter(person?: Record<string, unknown>): Promise<{ readonly caller: ApiCaller; readonly user: SignedInUser }>;
  close(): Promise<void>;
}

const NEUTRAL = {
  auth_method: "client_secret_post",
  scopes: "openid profile email",
  domains: ["acme.example"],
  vouches_for_email: false,
  jit: "create",
  mapping: [],
  mfa: "own",
  acr_values: [],
  enforced: false,
  exempt: [],
  session_hours: 0,
  idle_minutes: 0,
  reauth: false,
  logout: false,
  status: 1,
};

export async function startCompany(database: DatabaseKind = "sqlite"): Promise<Company> {
  const slug = "acme";
  const oidc = await startOidcServer({ redirectUris: [`${ADDRESS}/oauth/${slug}`] });
  const app = await startManagementApp({ url: await createDatabase(database), clock: manualClock(Date.now()) });
  await app.database.db.insertInto("options").values({ key: "ServerAddress", value: ADDRESS }).execute();
  await app.snapshots.refresh();
  const root = await app.signIn("root");
  const secret = "client-1-secret";
  const made = { ...NEUTRAL, slug, name: "Acme", issuer: oidc.issuer, client_id: "client-1", secret };
  const provider = await root.data<IdentityProvider>(root.post("/api/identity_provider/", made));
  const signIn = async (caller = app.anonymous()) => {
    const { url } = await caller.data<{ url: string }>(caller.get(`/api/oauth/start?service=${slug}`));
    const query = await oidc.visit(url);
    const reply = await caller.get(`/api/oauth/${slug}?${query.toString()}`);
    return { caller, reply };
  };
  return {
    app,
    oidc,
    root,
    provider,
    signIn,
    async setUp(change = {}) {
      oidc.tamper = undefined;
      const sent = { ...NEUTRAL, name: "Acme", issuer: oidc.issuer, client_id: "client-1", secret, ...change };
      await root.data(root.put(`/api/identity_provider/${provider.id}`, sent));
    },
    async enter(person) {
      if (person) oidc.person = { sub: "subject-1", ...person };
      const { caller, reply } = await signIn();
      const user = reply.body["data"] as SignedInUser | undefined;
      if (!user) throw new Error(`the sign-in was refused: ${reply.text}`);
      caller.userId = user.id;
      return { caller, user };
    },
    async close() {
      await app.close();
      await oidc.close();
    },
  };
}
