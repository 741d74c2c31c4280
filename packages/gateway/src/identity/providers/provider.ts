import type { IdentityProvider, MappingRule, NewIdentityProvider } from "@fairway/wire";
import { PROVIDER_STATUS } from "@fairway/wire";
import type { Selectable } from "kysely";
import type { IdentityProviderTable } from "../../storage/tables/schema-identity.ts";

/** Everything about a provider that has no column of its own. */
type Settings = Omit<
  IdentityProvider,
  | "id"
  | "kind"
  | "slug"
  | "name"
  | "issuer"
  | "mapping"
  | "enforced"
  | "status"
  | "has_secret"
  | "scim_tokens"
  | "created_at"
  | "updated_at"
>;

const DEFAULTS: Omit<Settings, "client_id"> = {
  auth_method: "client_secret_post",
  scopes: "openid profile email",
  allow_http: false,
  domains: [],
  vouches_for_email: false,
  jit: "create",
  mfa: "own",
  acr_values: [],
  exempt: [],
  session_hours: 0,
  idle_minutes: 0,
  reauth: false,
  logout: false,
  scim_match: "oid",
};

/** A token of a company's directory. */
export interface StoredScimToken {
  /** SHA-256, hex. */
  readonly hash: string;
  readonly created_at: number;
}

/** A provider as the gateway uses it. */
export interface Provider extends Settings {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly issuer: string;
  readonly mapping: readonly MappingRule[];
  readonly enforced: boolean;
  readonly isEnabled: boolean;
  readonly secretSealed: string;
  readonly scimTokens: readonly StoredScimToken[];
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function parseProvider(row: Selectable<IdentityProviderTable>): Provider {
  return {
    ...DEFAULTS,
    ...(JSON.parse(row.settings) as Pick<Settings, "client_id"> & Partial<Settings>),
    id: row.id,
    slug: row.slug,
    name: row.name,
    issuer: row.issuer,
    mapping: JSON.parse(row.mapping) as MappingRule[],
    enforced: row.enforced === 1,
    isEnabled: row.status === PROVIDER_STATUS.enabled,
    secretSealed: row.secret_sealed,
    scimTokens: JSON.parse(row.scim_tokens) as StoredScimToken[],
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Returns the columns of a new provider, without its secret. */
export function toColumns(provider: Omit<NewIdentityProvider, "secret">) {
  const {
    slug,
    name,
    issuer,
    mapping = [],
    enforced = false,
    status = PROVIDER_STATUS.enabled,
    ...settings
  } = provider;
  return {
    slug,
    name,
    issuer,
    mapping: JSON.stringify(mapping),
    enforced: enforced ? 1 : 0,
    status,
    settings: JSON.stringify({ ...DEFAULTS, ...settings }),
  };
}

/** Returns the members of a provider that a change can replace. */
export function toInput(provider: Provider): Omit<NewIdentityProvider, "secret"> {
  const { slug, name, issuer, client_id, mapping, enforced } = provider;
  return {
    ...readSettings(provider),
    slug,
    name,
    issuer,
    client_id,
    mapping: [...mapping],
    enforced,
    status: provider.isEnabled ? PROVIDER_STATUS.enabled : PROVIDER_STATUS.disabled,
  };
}

/** Returns what the management API shows. */
export function providerView(provider: Provider): IdentityProvider {
  const { slug, name, issuer, mapping, enforced } = provider;
  return {
    id: provider.id,
    kind: "oidc",
    ...readSettings(provider),
    slug,
    name,
    issuer,
    mapping: [...mapping],
    enforced,
    status: provider.isEnabled ? PROVIDER_STATUS.enabled : PROVIDER_STATUS.disabled,
    has_secret: provider.secretSealed !== "",
    scim_tokens: provider.scimTokens.map(({ created_at }) => created_at),
    created_at: provider.createdAt,
    updated_at: provider.updatedAt,
  };
}

function readSettings(provider: Provider): Settings {
  const names = ["client_id", ...Object.keys(DEFAULTS)] as (keyof Settings)[];
  return Object.fromEntries(names.map((name) => [name, provider[name]])) as unknown as Settings;
}
