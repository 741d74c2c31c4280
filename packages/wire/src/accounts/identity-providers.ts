import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";

export const IDENTITY_PROVIDERS_MAX = 50;
export const MAPPING_RULES_MAX = 200;
const DOMAINS_MAX = 50;
const EXEMPT_MAX = 5;
const NAME_MAX = 64;
const TEXT_MAX = 255;
const SECRET_MAX = 8192;

export const PROVIDER_STATUS = { enabled: 1, disabled: 2 } as const;

const short = z.string().check(z.minLength(1), z.maxLength(TEXT_MAX));
const texts = z.array(short).check(z.maxLength(DOMAINS_MAX));

/** What a claim must be. Exactly one of `equals`, `prefix`, `in` and `exists` is given. */
const Condition = z.strictObject({
  /** Name of a claim; dots lead into objects, unless the whole name is a claim. */
  claim: short,
  equals: z.optional(short),
  prefix: z.optional(short),
  in: z.optional(z.array(short).check(z.minLength(1), z.maxLength(MAPPING_RULES_MAX))),
  exists: z.optional(z.boolean()),
});

/** One rule: the first rule that gives a role decides the role, the first one that gives a group decides the group. */
export const MappingRule = z.strictObject({
  when: Condition,
  role: z.optional(z.enum(["user", "admin"])),
  group: z.optional(short),
});
export type MappingRule = z.output<typeof MappingRule>;

const settings = {
  /** Last part of the addresses of the provider: small letters, digits and hyphens, beginning with a letter. */
  slug: z.string().check(z.regex(/^[a-z][a-z0-9-]{1,31}$/)),
  name: z.string().check(z.minLength(1), z.maxLength(NAME_MAX)),
  /** The issuer as its discovery document writes it. */
  issuer: short,
  client_id: short,
  /** How the gateway proves that it is the client. */
  auth_method: z.enum(["client_secret_post", "client_secret_basic", "private_key_jwt", "none"]),
  scopes: z.string().check(z.maxLength(TEXT_MAX)),
  /** True if addresses of the provider may begin with `http:` outside of this machine. */
  allow_http: z.boolean(),
  /** Mail domains that belong to the company; people with such an address are led to the provider. */
  domains: texts,
  /** True if the provider gives no user an address of another person, although it sends no `email_verified`. */
  vouches_for_email: z.boolean(),
  /** What happens when a person comes for the first time. */
  jit: z.enum(["off", "create", "link"]),
  mapping: z.array(MappingRule).check(z.maxLength(MAPPING_RULES_MAX)),
  /** Which second factor counts: the account's own, or that of the provider. */
  mfa: z.enum(["own", "provider"]),
  /** Values of `acr` that count as a second factor of the provider. */
  acr_values: texts,
  /** True if the people of the company sign in here only. */
  enforced: z.boolean(),
  /** Ids of accounts that may sign in without the provider even so. */
  exempt: z.array(z.int()).check(z.maxLength(EXEMPT_MAX)),
  /** 0 = as long as other sessions. */
  session_hours: z.int().check(z.minimum(0), z.maximum(2160)),
  /** 0 = no limit. */
  idle_minutes: z.int().check(z.minimum(0), z.maximum(43_200)),
  /** True if a change of credentials needs a new proof at the provider. */
  reauth: z.boolean(),
  /** True if signing out here also leads to the provider's own page for it. */
  logout: z.boolean(),
  /** The claim that equals the `externalId` of the same person in SCIM; `sub` is tried after it. */
  scim_match: short,
  /** 1 = enabled, 2 = disabled. */
  status: z.union([z.literal(1), z.literal(2)]),
};

/** An identity provider of a company. Its secret is never sent. */
export const IdentityProvider = z.object({
  id: z.int(),
  kind: z.literal("oidc"),
  ...settings,
  has_secret: z.boolean(),
  /** Creation times of the tokens with which the company's directory writes over SCIM. */
  scim_tokens: z.array(z.int()),
  created_at: z.int(),
  updated_at: z.int(),
});
export type IdentityProvider = z.output<typeof IdentityProvider>;

const { slug, name, issuer, client_id, ...rest } = settings;
const secret = z.string().check(z.maxLength(SECRET_MAX));
const changes = z.partial(z.strictObject({ ...rest, name, issuer, client_id, secret }));
const creation = z.strictObject({ ...changes.shape, slug, name, issuer, client_id });
export type IdentityProviderChange = z.output<typeof changes>;
export type NewIdentityProvider = z.output<typeof creation>;

const inputFails = [
  "identity_issuer_shared",
  "identity_issuer_insecure",
  "identity_rule_invalid",
  "identity_key_invalid",
  "group_not_found",
] as const;

export const identityProviderList = endpoint({
  name: "identityProviderList",
  method: "GET",
  path: "/api/identity_provider/",
  access: "root",
  summary: "Lists the identity providers.",
  data: z.array(IdentityProvider),
});

export const identityProviderGet = endpoint({
  name: "identityProviderGet",
  method: "GET",
  path: "/api/identity_provider/{id}",
  access: "root",
  summary: "Reads an identity provider.",
  params: idParams,
  data: IdentityProvider,
  fails: ["identity_provider_not_found"],
});

export const identityProviderCreate = endpoint({
  name: "identityProviderCreate",
  method: "POST",
  path: "/api/identity_provider/",
  access: "root",
  summary: "Adds an identity provider.",
  body: creation,
  data: IdentityProvider,
  fails: [...inputFails, "identity_slug_taken", "identity_provider_limit"],
});

export const identityProviderUpdate = endpoint({
  name: "identityProviderUpdate",
  method: "PUT",
  path: "/api/identity_provider/{id}",
  access: "root",
  summary: "Changes the members of an identity provider that are sent; its slug stays.",
  params: idParams,
  body: changes,
  data: IdentityProvider,
  fails: [...inputFails, "identity_provider_not_found", "entity_changed"],
});

export const identityProviderDelete = endpoint({
  name: "identityProviderDelete",
  method: "DELETE",
  path: "/api/identity_provider/{id}",
  access: "root",
  summary: "Deletes an identity provider with its links to accounts; the accounts stay.",
  params: idParams,
  fails: ["identity_provider_not_found"],
});

/** What is checked at a provider, in the order in which a sign-in needs it. */
export const IDENTITY_CHECKS = [
  "address",
  "discovery",
  "issuer",
  "endpoints",
  "keys",
  "algorithm",
  "client",
  "scopes",
  "logout",
] as const;
export type IdentityCheckName = (typeof IDENTITY_CHECKS)[number];

/** One thing that a sign-in needs. */
export const IdentityCheck = z.object({
  name: z.enum(IDENTITY_CHECKS),
  /** `skipped`: an earlier check failed; `warning`: a sign-in may work even so. */
  state: z.enum(["passed", "warning", "failed", "skipped"]),
  /** The value that was found, an address or a code of the provider; "" = none. */
  detail: z.string(),
});
export type IdentityCheck = z.output<typeof IdentityCheck>;

/** What a provider answers, and what pasted claims would give. */
export const IdentityProviderTest = z.object({
  checks: z.array(IdentityCheck),
  /** The issuer that the discovery document names; "" without a document. */
  issuer: z.string(),
  /** Number of keys for signatures. */
  keys: z.int(),
  /** True if the provider has a page for signing out. */
  has_logout: z.boolean(),
  mapping: z.object({
    /** "" = no rule gives one. */
    role: z.string(),
    /** Number of the rule that gave it, from 1; 0 = none. */
    role_rule: z.int(),
    group: z.string(),
    group_rule: z.int(),
    /** True if the provider left the groups out because there are too many. */
    is_incomplete: z.boolean(),
  }),
});
export type IdentityProviderTest = z.output<typeof IdentityProviderTest>;

export const identityProviderTest = endpoint({
  name: "identityProviderTest",
  method: "POST",
  path: "/api/identity_provider/{id}/test",
  access: "root",
  summary:
    "Checks at the provider, step by step, what a sign-in needs, and says what pasted claims would give; changes nothing.",
  params: idParams,
  body: z.strictObject({ claims: z.optional(z.record(z.string(), z.unknown())) }),
  data: IdentityProviderTest,
  fails: ["identity_provider_not_found"],
});

/** The link of an account to a person at a provider. */
export const LinkedIdentity = z.object({
  id: z.int(),
  user_id: z.int(),
  username: z.string(),
  /** The person at the provider. */
  subject: z.string(),
  /** Role and group that rules gave; "" = none. */
  role: z.string(),
  group: z.string(),
  /** Epoch seconds of the last sign-in. */
  last_at: z.int(),
});
export type LinkedIdentity = z.output<typeof LinkedIdentity>;

export const identityProviderIdentities = endpoint({
  name: "identityProviderIdentities",
  method: "GET",
  path: "/api/identity_provider/{id}/identities",
  access: "root",
  summary: "Lists who is linked to an identity provider.",
  params: idParams,
  query: z.object(pageFields),
  data: z.array(LinkedIdentity),
  fails: ["identity_provider_not_found"],
});

export const identityProviderScimToken = endpoint({
  name: "identityProviderScimToken",
  method: "POST",
  path: "/api/identity_provider/{id}/scim_token",
  access: "root",
  summary:
    "Makes a token for the company's directory and shows it once; the one before it stays valid, older ones end.",
  params: idParams,
  data: z.object({ token: z.string() }),
  fails: ["identity_provider_not_found"],
});

export const identityProviderScimTokenDelete = endpoint({
  name: "identityProviderScimTokenDelete",
  method: "DELETE",
  path: "/api/identity_provider/{id}/scim_token",
  access: "root",
  summary: "Ends all tokens of the company's directory.",
  params: idParams,
  fails: ["identity_provider_not_found"],
});
