import { ROLE } from "@fairway/wire";
import type { Kysely } from "kysely";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { Provider } from "./provider.ts";
import type { ProviderStore } from "./store.ts";

export interface EnforcementDeps {
  readonly db: Kysely<Schema>;
  readonly providers: Pick<ProviderStore, "list">;
  /** Called when an account that is exempt signs in without its provider. */
  readonly onExempt: (user: EnforcedUser, provider: string) => Promise<void>;
}

export interface EnforcedUser {
  readonly id: number;
  readonly username: string;
  readonly role: number;
}

/** Keeps people of a company to its own sign-in. */
export interface Enforcement {
  /** Throws `provider_sign_in_required` if the account must come from another provider. */
  check(user: EnforcedUser, providerId: number): Promise<void>;
  /** Throws `provider_sign_in_required` if no user may register with the address. */
  checkAddress(email: string): Promise<void>;
}

export function createEnforcement({ db, providers, onExempt }: EnforcementDeps): Enforcement {
  const listEnforced = async () => (await providers.list()).filter((one) => one.enforced && one.isEnabled);
  return {
    async check(user, providerId) {
      const enforced = await listEnforced();
      if (enforced.length === 0 || enforced.some(({ id }) => id === providerId)) return;
      const row = await db.selectFrom("users").select("email").where("id", "=", user.id).executeTakeFirst();
      const links = await db
        .selectFrom("user_identities")
        .select("provider_id")
        .where("user_id", "=", user.id)
        .execute();
      const linked = new Set(links.map(({ provider_id }) => provider_id));
      const found = enforced.find((one) => linked.has(one.id) || ownsAddress(one, row?.email ?? ""));
      if (!found) return;
      if (user.role !== ROLE.root && !found.exempt.includes(user.id)) throw requireSignIn(found);
      await onExempt(user, found.slug);
    },
    async checkAddress(email) {
      const found = (await listEnforced()).find((one) => ownsAddress(one, email));
      if (found) throw requireSignIn(found);
    },
  };
}

function requireSignIn({ name }: Provider): Refusal {
  return new Refusal("provider_sign_in_required", { values: { provider: name } });
}

/** Returns whether the address has one of the provider's domains. */
export function ownsAddress({ domains }: Pick<Provider, "domains">, email: string): boolean {
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return email.includes("@") && domains.some((one) => one.toLowerCase() === domain);
}
