import { identityProviderTest, type Client, type IdentityCheck, type IdentityCheckName } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { isForPeople, printList, printOne, type Output, type Shape } from "../../print/output.ts";
import { readStdin, readTextFile } from "../../terminal/prompt.ts";
import { parseJson } from "./change-provider.ts";
import { findProvider } from "./provider.ts";

export interface ProviderTestOptions {
  readonly claimsFile?: string;
  readonly claimsStdin?: boolean;
}

/** What to do about a check that did not pass. */
const CURES: Readonly<Record<IdentityCheckName, string>> = {
  address: "set ServerAddress to the https address of this gateway, and register the redirect address at the provider",
  discovery: "check the issuer, and whether the gateway may reach it: firewall, proxy, name and certificate",
  issuer: "enter exactly the issuer that the document names",
  endpoints: "the address is missing or not encrypted: change it at the provider",
  keys: "check whether the gateway may reach the address of the keys",
  algorithm: "choose RS256 or ES256 for this client at the provider",
  client: "compare client id, secret and method with those at the provider; secrets expire there",
  scopes: "sign-in needs openid; leave out what the provider does not know",
  logout: "the provider has no page for signing out: use --no-logout",
};

const isWrong = ({ state }: IdentityCheck) => state === "failed" || state === "warning";

const CHECKS: Shape<IdentityCheck> = {
  kind: "IdentityCheck",
  columns: [
    plain("CHECK", "name"),
    plain("STATE", "state"),
    plain("FOUND", "detail"),
    { title: "CURE", value: (check) => (isWrong(check) ? CURES[check.name] : "") },
  ],
};

/** Tests a provider; fails if a sign-in cannot work. */
export async function testProvider(
  client: Client,
  text: string,
  options: ProviderTestOptions,
  output: Output,
): Promise<void> {
  const claims = await readClaims(options);
  const { id, slug } = await findProvider(client, text);
  const { data } = await client.call(identityProviderTest, { params: { id }, body: claims ? { claims } : {} });
  if (isForPeople(output)) {
    await printList(output, { ...CHECKS, rows: data.checks, empty: "" });
    if (claims) output.note(describeGifts(data.mapping));
  } else await printOne(output, data);
  const failed = data.checks.filter(({ state }) => state === "failed").map(({ name }) => name);
  if (failed.length > 0)
    throw new CliError(`a sign-in with ${slug} cannot work: ${failed.join(", ")}`, EXIT.failure, "see the cures above");
}

function describeGifts({ role, role_rule, group, group_rule, is_incomplete }: Mapping): string {
  const by = (rule: number) => (rule > 0 ? ` (rule ${rule})` : "");
  const rest = is_incomplete ? " The groups are left out because there are too many." : "";
  return `These claims give the role ${role || "-"}${by(role_rule)} and the group ${group || "-"}${by(group_rule)}.${rest}`;
}

interface Mapping {
  readonly role: string;
  readonly role_rule: number;
  readonly group: string;
  readonly group_rule: number;
  readonly is_incomplete: boolean;
}

async function readClaims({ claimsFile, claimsStdin }: ProviderTestOptions) {
  if (claimsFile === undefined && !claimsStdin) return undefined;
  const source = claimsFile === undefined ? "standard input" : "--claims-file";
  const text = claimsFile === undefined ? await readStdin("Claims") : readTextFile(claimsFile, source);
  const claims = parseJson(text, source);
  if (typeof claims === "object" && claims !== null && !Array.isArray(claims)) return claims as Record<string, unknown>;
  throw new CliError(`${source} holds no JSON object`, EXIT.usage, 'write claims such as {"groups": ["admins"]}');
}
