import type { IdentityProviderChange, MappingRule, OptionValues } from "@fairway/wire";
import { canUseHttp, parseClientKey } from "../../identity/providers/connect.ts";
import { Refusal } from "../../lib/refusal.ts";

/** Names that the addresses of sign-in already use. */
const RESERVED: ReadonlySet<string> = new Set([
  "backchannel",
  "email",
  "github",
  "lark",
  "linuxdo",
  "oidc",
  "saml",
  "start",
  "state",
  "telegram",
  "wechat",
]);
/** Issuers of Microsoft that stand for any tenant, whose administrators could claim any address. */
const SHARED = /\/(?:common|organizations|consumers)(?:\/|$)|\{|%7b/i;

type Checked = Pick<IdentityProviderChange, "issuer" | "allow_http" | "auth_method" | "secret" | "mapping"> & {
  readonly slug?: string;
};

/** Throws what is wrong with a provider. */
export function checkProvider(given: Checked, options: OptionValues): void {
  const { slug = "", issuer, allow_http = false, auth_method, secret, mapping = [] } = given;
  if (RESERVED.has(slug)) throw new Refusal("identity_slug_taken", { field: "slug", values: { slug } });
  if (issuer !== undefined) checkIssuer(issuer, allow_http);
  if (auth_method === "private_key_jwt" && secret !== undefined && parseClientKey(secret) === undefined)
    throw new Refusal("identity_key_invalid", { field: "secret" });
  for (const [index, rule] of mapping.entries()) checkRule(rule, index, options);
}

function checkIssuer(issuer: string, allow_http: boolean): void {
  if (SHARED.test(issuer)) throw new Refusal("identity_issuer_shared", { field: "issuer" });
  const url = URL.parse(issuer);
  const isPlain = url?.search === "" && url.hash === "" && url.username === "" && url.password === "";
  const isAllowed = url?.protocol === "https:" || (url?.protocol === "http:" && canUseHttp({ issuer, allow_http }));
  if (!isPlain || !isAllowed) throw new Refusal("identity_issuer_insecure", { field: "issuer" });
}

function checkRule({ when, role, group }: MappingRule, index: number, options: OptionValues): void {
  const conditions = [when.equals, when.prefix, when.in, when.exists].filter((one) => one !== undefined);
  if (conditions.length !== 1 || (role === undefined && group === undefined))
    throw new Refusal("identity_rule_invalid", { field: "mapping", values: { n: index + 1 } });
  if (group !== undefined && !Object.hasOwn(options.GroupRatio, group))
    throw new Refusal("group_not_found", { field: "mapping", values: { g: group } });
}
