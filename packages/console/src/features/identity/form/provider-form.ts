import type { IdentityProvider, IdentityProviderChange, NewIdentityProvider } from "@fairway/wire";
import { findKind, PROVIDER_KINDS, type ProviderKind } from "../kinds.ts";
import { findRuleFault, toRule, toRuleDraft, type RuleDraft } from "./rules.ts";

/** Names are those of the API, so that its refusals appear at their fields. */
export interface ProviderDraft {
  readonly kind: ProviderKind;
  readonly name: string;
  readonly slug: string;
  readonly issuer: string;
  readonly client_id: string;
  /** "" leaves the stored secret as it is. */
  readonly secret: string;
  readonly auth_method: IdentityProvider["auth_method"];
  readonly scopes: string;
  readonly allow_http: boolean;
  readonly domains: string[];
  readonly vouches_for_email: boolean;
  readonly jit: IdentityProvider["jit"];
  readonly mapping: readonly RuleDraft[];
  readonly mfa: IdentityProvider["mfa"];
  readonly acr_values: string[];
  readonly enforced: boolean;
  /** Ids separated by commas. */
  readonly exempt: string;
  readonly session_hours: string;
  readonly idle_minutes: string;
  readonly reauth: boolean;
  readonly logout: boolean;
  readonly scim_match: string;
}

export const NEW_PROVIDER: ProviderDraft = {
  kind: "entra",
  name: "",
  slug: "",
  issuer: "",
  client_id: "",
  secret: "",
  auth_method: "client_secret_post",
  scopes: "openid profile email",
  allow_http: false,
  domains: [],
  vouches_for_email: false,
  jit: "create",
  mapping: [],
  mfa: "own",
  acr_values: [],
  enforced: false,
  exempt: "",
  session_hours: "0",
  idle_minutes: "0",
  reauth: false,
  logout: false,
  scim_match: PROVIDER_KINDS.entra.scimMatch,
};

export function toProviderDraft(provider: IdentityProvider): ProviderDraft {
  const { name, slug, issuer, client_id, auth_method, scopes, allow_http, domains, vouches_for_email } = provider;
  const { jit, mfa, acr_values, enforced, reauth, logout, scim_match } = provider;
  return {
    kind: findKind(issuer),
    name,
    slug,
    issuer,
    client_id,
    auth_method,
    scopes,
    allow_http,
    domains,
    vouches_for_email,
    jit,
    mfa,
    acr_values,
    enforced,
    reauth,
    logout,
    scim_match,
    secret: "",
    mapping: provider.mapping.map(toRuleDraft),
    exempt: provider.exempt.join(", "),
    session_hours: String(provider.session_hours),
    idle_minutes: String(provider.idle_minutes),
  };
}

/** Returns the members to send; the slug of an existing provider stays. */
export function toProviderChange(draft: ProviderDraft): IdentityProviderChange {
  const { auth_method, allow_http, vouches_for_email, jit, mfa, enforced, reauth, logout, secret } = draft;
  return {
    auth_method,
    allow_http,
    vouches_for_email,
    jit,
    mfa,
    enforced,
    reauth,
    logout,
    name: draft.name.trim(),
    issuer: draft.issuer.trim(),
    client_id: draft.client_id.trim(),
    scopes: draft.scopes.trim(),
    domains: [...draft.domains],
    acr_values: [...draft.acr_values],
    mapping: draft.mapping.map(toRule),
    exempt: readIds(draft.exempt) ?? [],
    session_hours: Number(draft.session_hours),
    idle_minutes: Number(draft.idle_minutes),
    scim_match: draft.scim_match.trim(),
    ...(secret !== "" && { secret }),
  };
}

export function toNewProvider(draft: ProviderDraft): NewIdentityProvider {
  const { name, issuer, client_id, ...rest } = toProviderChange(draft);
  return { ...rest, slug: draft.slug.trim(), name: name ?? "", issuer: issuer ?? "", client_id: client_id ?? "" };
}

const MAX_EXEMPT = 5;
const MAX_HOURS = 2_160;
const MAX_MINUTES = 43_200;

/** Returns the ids of a list separated by commas; undefined if it has anything else or too many. */
function readIds(text: string): number[] | undefined {
  const parts = text.split(",").flatMap((part) => part.trim() || []);
  const ids = parts.map(Number);
  return ids.every((id) => Number.isSafeInteger(id) && id > 0) && ids.length <= MAX_EXEMPT ? ids : undefined;
}

function isWhole(text: string, most: number): boolean {
  const value = Number(text);
  return text.trim() !== "" && Number.isInteger(value) && value >= 0 && value <= most;
}

type ProblemKey =
  | "nameMissing"
  | "slugWrong"
  | "issuerMissing"
  | "clientMissing"
  | "scopesMissing"
  | "exemptWrong"
  | "hoursWrong"
  | "minutesWrong"
  | "matchMissing"
  | "rulesWrong";
type Problems = Partial<Record<keyof ProviderDraft, ProblemKey>>;

/** Checks the form; problems are keys of this feature's texts. */
export function checkProvider(draft: ProviderDraft, isNew: boolean): Problems {
  const faults: readonly (readonly [keyof ProviderDraft, ProblemKey, boolean])[] = [
    ["name", "nameMissing", draft.name.trim() === ""],
    ["slug", "slugWrong", isNew && !/^[a-z][a-z0-9-]{1,31}$/.test(draft.slug.trim())],
    ["issuer", "issuerMissing", !URL.canParse(draft.issuer.trim())],
    ["client_id", "clientMissing", draft.client_id.trim() === ""],
    ["scopes", "scopesMissing", !draft.scopes.split(" ").includes("openid")],
    ["exempt", "exemptWrong", readIds(draft.exempt) === undefined],
    ["session_hours", "hoursWrong", !isWhole(draft.session_hours, MAX_HOURS)],
    ["idle_minutes", "minutesWrong", !isWhole(draft.idle_minutes, MAX_MINUTES)],
    ["scim_match", "matchMissing", draft.scim_match.trim() === ""],
    ["mapping", "rulesWrong", draft.mapping.some((rule) => findRuleFault(rule) !== undefined)],
  ];
  return Object.fromEntries(faults.flatMap(([name, problem, isFault]) => (isFault ? [[name, problem]] : [])));
}

/** Suggests the last part of the addresses from a name: small letters, digits and hyphens. */
export function suggestSlug(name: string): string {
  const words =
    name
      .toLowerCase()
      .normalize("NFKD")
      .match(/[a-z0-9]+/g) ?? [];
  return words
    .join("-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 32)
    .replace(/-$/, "");
}
