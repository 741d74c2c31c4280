import type { Kysely } from "kysely";
import { ACCOUNT_KIND } from "@fairway/wire";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { parseEmail } from "../../identity/mail/email-address.ts";
import type { Schema } from "../../storage/tables/schema.ts";

export interface SignInRow {
  readonly id: number;
  readonly username: string;
  readonly display_name: string;
  readonly role: number;
  readonly status: number;
  readonly group: string;
  readonly password: string;
  readonly deleted_at: number | null;
}

const COLUMNS = ["id", "username", "display_name", "role", "status", "group", "password", "deleted_at"] as const;

export interface AuthStore {
  /** Finds an account by user name or e-mail address, in any letter case; includes deleted accounts. */
  findForSignIn(login: string): Promise<SignInRow | undefined>;
  /** Finds the only account of an address that may reset its password. */
  findForReset(email: string): Promise<{ readonly id: number; readonly username: string } | undefined>;
  setPasswordHash(userId: number, hash: string): Promise<void>;
}

/** Creates the SQL of sign-in. Names contain no @, so a name never equals an address. */
export function createAuthStore({ db }: { readonly db: Kysely<Schema> }): AuthStore {
  return {
    findForSignIn(login) {
      const email = login.includes("@") ? parseEmail(login) : undefined;
      const select = db.selectFrom("users").select(COLUMNS).where("kind", "=", ACCOUNT_KIND.person);
      const found =
        email === undefined ? select.where("username_key", "=", usernameKey(login)) : select.where("email", "=", email);
      return found.executeTakeFirst();
    },
    findForReset: (email) =>
      db
        .selectFrom("users")
        .select(["id", "username"])
        .where("email", "=", email)
        .where("status", "=", 1)
        .where("kind", "=", ACCOUNT_KIND.person)
        .where("deleted_at", "is", null)
        .executeTakeFirst(),
    async setPasswordHash(userId, hash) {
      await db.updateTable("users").set({ password: hash }).where("id", "=", userId).execute();
    },
  };
}
