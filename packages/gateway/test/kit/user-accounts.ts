import { accountRow } from "../../src/identity/accounts/accounts.ts";
import { insertRow } from "../../src/storage/inserts.ts";
import type { ApiCaller, ApiReply } from "./api-caller.ts";
import type { ManagementApp } from "./management-app.ts";

/** The password of all accounts that `UserAccounts` adds. */
export const ACCOUNT_PASSWORD = "a good password";

/** Accounts by name, and what tests of user administration read of them. */
export class UserAccounts {
  readonly #app: ManagementApp;
  readonly #ids = new Map([["root", 1]]);

  constructor(app: ManagementApp) {
    this.#app = app;
  }

  /** Starts over: root, the administrators `alice` and `arthur`, the users `ursula` and `ulf_%`, no logs. */
  async reset(): Promise<void> {
    const { db } = this.#app.database;
    await db.deleteFrom("users").where("username", "!=", "root").execute();
    await db.deleteFrom("logs").execute();
    this.#app.clock.move(2000);
    await this.add("alice", { role: 10, email: "alice@example.com" });
    await this.add("arthur", { role: 10, email: "arthur@example.com" });
    await this.add("ursula", { email: "ursula@example.com" });
    await this.add("ulf_%");
  }

  /** Adds an account with a balance of 1,000. */
  async add(username: string, change: { role?: number; email?: string } = {}): Promise<number> {
    const passwordHash = await this.#app.identity.passwords.hash(ACCOUNT_PASSWORD);
    const row = { ...accountRow({ username, passwordHash, createdAt: 1, ...change }), quota: 1000 };
    const id = await insertRow(this.#app.database.db, "users", row);
    this.#ids.set(username, id);
    return id;
  }

  /** 0 for an unknown name. */
  findId(username: string): number {
    return this.#ids.get(username) ?? 0;
  }

  readRow(username: string) {
    const rows = this.#app.database.db.selectFrom("users").selectAll();
    return rows.where("id", "=", this.findId(username)).executeTakeFirstOrThrow();
  }

  readLogs(username: string) {
    const rows = this.#app.database.db.selectFrom("logs").select(["type", "content", "other"]);
    return rows.where("user_id", "=", this.findId(username)).orderBy("id").execute();
  }

  /** The body of the answer to `POST /api/user/manage`. */
  async manage(caller: ApiCaller, username: string, action: string, more: object = {}): Promise<ApiReply["body"]> {
    return (await caller.post("/api/user/manage", { id: this.findId(username), action, ...more })).body;
  }
}
