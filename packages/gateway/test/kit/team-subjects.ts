import { DEFAULT_TEAM_SETTINGS } from "@fairway/wire";
import { insertRow } from "../../src/storage/inserts.ts";
import { transact } from "../../src/storage/transaction.ts";
import { addMember } from "../../src/teams/members.ts";
import { createServiceAccount, createServiceToken } from "../../src/teams/service-accounts.ts";
import { createTeam } from "../../src/teams/teams.ts";
import { ApiCaller } from "./api-caller.ts";
import type { ManagementApp } from "./management-app.ts";
import { ACTORS, WEBHOOK, type Actor, type Subject } from "./team-calls.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "./user-accounts.ts";

/** Teams with a row of everything, and signed-in people of every role towards them. */
export class TeamSubjects {
  readonly #app: ManagementApp;
  readonly #accounts: UserAccounts;
  readonly #people = new Map<Actor, ApiCaller>();
  #made = 0;

  private constructor(app: ManagementApp) {
    this.#app = app;
    this.#accounts = new UserAccounts(app);
  }

  static async open(app: ManagementApp): Promise<TeamSubjects> {
    const subjects = new TeamSubjects(app);
    for (const actor of ACTORS) await subjects.#addPerson(actor);
    await subjects.#accounts.add("guest");
    return subjects;
  }

  async #addPerson(actor: Actor): Promise<void> {
    if (actor !== "root") await this.#accounts.add(actor, { role: actor === "operator" ? 10 : 1 });
    const signedIn = actor === "root" ? this.#app.signIn("root") : this.#app.signIn(actor, ACCOUNT_PASSWORD);
    this.#people.set(actor, await signedIn);
  }

  /** Ends all memberships: a person is in at most 100 teams. */
  async clear(): Promise<void> {
    await this.#app.database.db.deleteFrom("team_members").execute();
  }

  caller(actor: Actor): ApiCaller {
    return this.#people.get(actor) as ApiCaller;
  }

  idOf(actor: Actor | "guest"): number {
    return this.#accounts.findId(actor);
  }

  /** Makes a team with a member of each role, a guest, and one row of everything. */
  async make({ owner = "owner" }: { readonly owner?: Actor } = {}): Promise<Subject> {
    this.#made += 1;
    const slug = `team-${this.#made}`;
    const nowMs = this.#app.clock.now();
    const ownerId = this.idOf(owner);
    const { id, accountId } = await transact(this.#app.database.db, async (trx) => {
      const plain = { description: "", labels: {}, settings: DEFAULT_TEAM_SETTINGS, group: "default" };
      const names = { name: slug, slug };
      const team = await createTeam(trx, { ...plain, ...names, ownerId, createdBy: 1, source: "manual", nowMs });
      const add = (who: Actor | "guest", role: "admin" | "member" | "viewer") =>
        addMember(trx, { ...team, ...names }, { userId: this.idOf(who), role, source: "manual", addedBy: 1, nowMs });
      for (const role of ["admin", "member", "viewer"] as const) await add(role, role);
      await add("guest", "viewer");
      return team;
    });
    await this.#app.database.raw.run("update users set quota = 1000 where id in (?, ?)", [ownerId, accountId]);
    const [root, member, head] = [this.caller("root"), this.caller("member"), this.caller(owner)];
    const post = async (who: ApiCaller, path: string, body: object): Promise<number> =>
      (await who.data<{ id: number }>(who.post(`/api/team/${id}${path}`, body))).id;
    const webhook = await post(root, "/webhook/", WEBHOOK);
    return {
      id,
      slug,
      key: await post(member, "/token/", { name: "k", unlimited_quota: true }),
      invitation: await post(root, "/invitations", { role: "viewer" }),
      guest: this.idOf("guest"),
      webhook,
      delivery: await this.#deliver(webhook),
      ...(await this.#addService(id)),
      budget: await post(head, "/budget/", { scope: "team", period: "day", quota_limit: 5 }),
      report: await post(head, "/report/saved/", { name: "costs", question: { by: [], days: 1 } }),
    };
  }

  /** Adds an event that was delivered to an endpoint. */
  async #deliver(webhook: number): Promise<number> {
    const { db } = this.#app.database;
    const { id: event } = await db.selectFrom("events").select("id").limit(1).executeTakeFirstOrThrow();
    const times = { created_ms: 1, next_at_ms: 1 };
    const state = { state: "done", redelivery: 0, last_error: "", body_hash: "" } as const;
    return insertRow(db, "webhook_deliveries", { event_id: event, endpoint_id: webhook, ...times, ...state });
  }

  /** Adds a service account with an access token. */
  async #addService(teamId: number): Promise<Pick<Subject, "service" | "accessToken">> {
    const now = Math.floor(this.#app.clock.now() / 1000);
    return transact(this.#app.database.db, async (trx) => {
      const id = await createServiceAccount(trx, { teamId, name: "ci", description: "", createdBy: 1, now });
      const terms = { name: "t", scopes: ["teams:read"], expiresAt: now + 3_600, graceSeconds: 0, createdBy: 1, now };
      const token = await createServiceToken(trx, { teamId, id }, terms);
      return { service: id, accessToken: token.id };
    });
  }

  /** Signs in as a program of a team with an access token for everything that teams do. */
  async openProgram(teamId: number, name = "program"): Promise<ApiCaller> {
    const now = Math.floor(this.#app.clock.now() / 1000);
    const { text } = await transact(this.#app.database.db, async (trx) => {
      const id = await createServiceAccount(trx, { teamId, name, description: "", createdBy: 1, now });
      const scopes = ["teams:write", "billing:write"];
      const terms = { name: "t", scopes, expiresAt: now + 3_600, graceSeconds: 0, createdBy: 1, now };
      return createServiceToken(trx, { teamId, id }, terms);
    });
    const program = new ApiCaller(this.#app.baseUrl);
    program.accessToken = `Bearer ${text}`;
    return program;
  }
}
