import {
  identityProviderCreate,
  identityProviderDelete,
  identityProviderGet,
  identityProviderIdentities,
  identityProviderList,
  identityProviderScimToken,
  identityProviderScimTokenDelete,
  identityProviderTest,
  identityProviderUpdate,
  resolvePage,
  serverAddress,
  type IdentityProvider,
  type IdentityProviderChange,
  type OptionValues,
} from "@fairway/wire";
import type { ServerResponse } from "node:http";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { buildEtag, setTag, tagCheck } from "../../http/etag.ts";
import { checkAtProvider } from "../../identity/providers/checks.ts";
import { evaluateMapping, isIncomplete } from "../../identity/providers/mapping.ts";
import { providerView, toInput, type Provider } from "../../identity/providers/provider.ts";
import { requireProvider, type ProviderStore } from "../../identity/providers/store.ts";
import { hashRandomId } from "../../identity/sessions/sessions.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { withDefaults } from "../../lib/defaults.ts";
import { randomText } from "../../lib/ids.ts";
import type { Outbound } from "../../lib/net/outbound.ts";
import type { Database } from "../../storage/database.ts";
import { transact } from "../../storage/transaction.ts";
import { checkProvider } from "./check.ts";
import { endOtherSessions, listIdentities } from "./links.ts";

export interface IdentityProviderRoutesDeps {
  readonly database: Pick<Database, "db">;
  readonly providers: ProviderStore;
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly options: () => OptionValues;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
}

const SCIM_PREFIX = "fwsc_";
const SCIM_CHARS = 43;
/** Tokens that are valid at once, so that a directory can be given the next one without a gap. */
const MAX_SCIM_TOKENS = 2;

/** Creates the routes with which the super administrator sets up identity providers. */
export function identityProviderRoutes(deps: IdentityProviderRoutesDeps): Route[] {
  const { providers, options } = deps;
  return [
    implement(identityProviderList, async () => (await providers.list()).map(providerView)),
    implement(identityProviderGet, async ({ params, response }) =>
      tagged(response, requireProvider(await providers.get(params.id))),
    ),
    implement(identityProviderCreate, async ({ body, response }) => {
      checkProvider(body, options());
      return tagged(response, await providers.create(body));
    }),
    implement(identityProviderUpdate, (call) => update(deps, call)),
    implement(identityProviderDelete, async ({ params }) =>
      providers.remove(requireProvider(await providers.get(params.id))),
    ),
    implement(identityProviderTest, async ({ params, body }) =>
      test(deps, requireProvider(await providers.get(params.id)), body.claims ?? {}),
    ),
    implement(identityProviderIdentities, async ({ params, query, setTotal }) => {
      const { id } = requireProvider(await providers.get(params.id));
      const { rows, total } = await listIdentities(deps.database.db, id, resolvePage(query));
      setTotal(total);
      return rows;
    }),
    ...scimTokenRoutes(deps),
  ];
}

function scimTokenRoutes({ providers, clock }: IdentityProviderRoutesDeps): Route[] {
  return [
    implement(identityProviderScimToken, async ({ params }) => {
      const provider = requireProvider(await providers.get(params.id));
      const token = `${SCIM_PREFIX}${randomText(SCIM_CHARS)}`;
      const made = { hash: hashRandomId(token), created_at: seconds(clock) };
      await providers.setScimTokens(provider, [made, ...provider.scimTokens].slice(0, MAX_SCIM_TOKENS));
      return { token };
    }),
    implement(identityProviderScimTokenDelete, async ({ params }) =>
      providers.setScimTokens(requireProvider(await providers.get(params.id)), []),
    ),
  ];
}

async function update(deps: IdentityProviderRoutesDeps, call: Call<typeof identityProviderUpdate>) {
  const { params, body, request, response } = call;
  const old = requireProvider(await deps.providers.get(params.id));
  tagCheck(request)?.(buildTag(old));
  checkProvider(mergeChecked(old, body), deps.options());
  const changed = await transact(deps.database.db, async (trx) => {
    const next = await deps.providers.update(old, body, trx);
    if (next.enforced && next.isEnabled) await endOtherSessions(trx, next);
    return next;
  });
  return tagged(response, changed);
}

/** A rule about two members holds also when only one of them is sent. */
function mergeChecked(old: Provider, change: IdentityProviderChange) {
  const { issuer, allow_http, auth_method, mapping } = withDefaults(toInput(old), change);
  const { secret } = change;
  return { issuer, allow_http, auth_method, mapping, ...(secret !== undefined && { secret }) };
}

function tagged(response: ServerResponse, provider: Provider): IdentityProvider {
  setTag(response, buildTag(provider));
  return providerView(provider);
}

function buildTag({ id, version }: Provider): string {
  return buildEtag({ id, version });
}

async function test(deps: IdentityProviderRoutesDeps, provider: Provider, claims: Readonly<Record<string, unknown>>) {
  const redirectUri = `${serverAddress(deps.options(), deps.publicUrl)}/oauth/${provider.slug}`;
  const { checks, issuer, keys, hasLogout } = await checkAtProvider({ ...deps, redirectUri }, provider);
  const { grants, roleRule, groupRule } = evaluateMapping(provider.mapping, claims);
  return {
    checks: [...checks],
    issuer,
    keys,
    has_logout: hasLogout,
    mapping: {
      role: grants.role ?? "",
      role_rule: roleRule,
      group: grants.group ?? "",
      group_rule: groupRule,
      is_incomplete: isIncomplete(provider.mapping, claims),
    },
  };
}
