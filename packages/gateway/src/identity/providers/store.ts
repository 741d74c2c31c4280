import { IDENTITY_PROVIDERS_MAX, type IdentityProviderChange, type NewIdentityProvider } from "@fairway/wire";
import type { Kysely, Transaction } from "kysely";
import { seconds, type Clock } from "../../lib/clock.ts";
import { withDefaults } from "../../lib/defaults.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isDuplicate } from "../../storage/errors.ts";
import { insertRow } from "../../storage/inserts.ts";
import { providerSecret } from "../../storage/secrets/sealed-locations.ts";
import type { Vault } from "../../storage/secrets/secrets.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { transact } from "../../storage/transaction.ts";
import { parseProvider, toColumns, toInput, type Provider, type StoredScimToken } from "./provider.ts";

type Db = Kysely<Schema>;

export interface ProviderStoreDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly vault: Pick<Vault, "seal" | "open">;
}

export type ProviderStore = ReturnType<typeof createProviderStore>;

/** Creates the SQL of identity providers. */
export function createProviderStore({ db, clock, vault }: ProviderStoreDeps) {
  const seal = (slug: string, secret: string) => (secret === "" ? "" : vault.seal(secret, providerSecret(slug)));
  return {
    /** Returns all providers, in the order in which they were added. */
    async list(): Promise<Provider[]> {
      return (await db.selectFrom("identity_providers").selectAll().orderBy("id").execute()).map(parseProvider);
    },
    get: (id: number) => findProvider(db, id),
    async findBySlug(slug: string): Promise<Provider | undefined> {
      const row = await db.selectFrom("identity_providers").selectAll().where("slug", "=", slug).executeTakeFirst();
      return row && parseProvider(row);
    },
    /** Returns the client's secret; "" if there is none. */
    openSecret: ({ slug, secretSealed }: Provider): string =>
      secretSealed === "" ? "" : vault.open(secretSealed, providerSecret(slug)),

    async create({ secret = "", ...provider }: NewIdentityProvider): Promise<Provider> {
      const now = seconds(clock);
      const row = {
        ...toColumns(provider),
        kind: "oidc",
        secret_sealed: seal(provider.slug, secret),
        scim_tokens: "[]",
        version: 1,
        created_at: now,
        updated_at: now,
      };
      try {
        return await transact(db, async (trx) => {
          await checkNumber(trx);
          return requireProvider(await findProvider(trx, await insertRow(trx, "identity_providers", row)));
        });
      } catch (cause) {
        if (isDuplicate(cause))
          throw new Refusal("identity_slug_taken", { field: "slug", values: { slug: provider.slug }, cause });
        throw cause;
      }
    },

    /** Changes the members that are given; throws `entity_changed` if another call was faster. */
    async update(old: Provider, { secret, ...change }: IdentityProviderChange, trx: Db = db): Promise<Provider> {
      const { slug, ...columns } = toColumns(withDefaults(toInput(old), change));
      const sealed = secret === undefined ? {} : { secret_sealed: seal(slug, secret) };
      await write(trx, old, { ...columns, ...sealed, updated_at: seconds(clock) });
      return requireProvider(await findProvider(trx, old.id));
    },

    setScimTokens: (old: Provider, tokens: readonly StoredScimToken[]): Promise<void> =>
      write(db, old, { scim_tokens: JSON.stringify(tokens) }),

    /** Deletes a provider with what it opened and linked; accounts stay. */
    async remove({ id }: Provider): Promise<void> {
      await transact(db, async (trx) => {
        await trx.deleteFrom("sessions").where("provider_id", "=", id).execute();
        await trx.deleteFrom("user_identities").where("provider_id", "=", id).execute();
        await trx.deleteFrom("identity_providers").where("id", "=", id).execute();
      });
    },
  };
}

async function checkNumber(trx: Transaction<Schema>): Promise<void> {
  const { n } = await trx
    .selectFrom("identity_providers")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .executeTakeFirstOrThrow();
  if (Number(n) >= IDENTITY_PROVIDERS_MAX)
    throw new Refusal("identity_provider_limit", { values: { n: IDENTITY_PROVIDERS_MAX } });
}

async function findProvider(db: Db, id: number): Promise<Provider | undefined> {
  const row = await db.selectFrom("identity_providers").selectAll().where("id", "=", id).executeTakeFirst();
  return row && parseProvider(row);
}

export function requireProvider(provider: Provider | undefined): Provider {
  if (!provider) throw new Refusal("identity_provider_not_found");
  return provider;
}

async function write(db: Db, { id, version }: Provider, change: object): Promise<void> {
  const answer = await db
    .updateTable("identity_providers")
    .set({ ...change, version: version + 1 })
    .where("id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
  if (answer.numUpdatedRows === 0n) throw new Refusal("entity_changed");
}
