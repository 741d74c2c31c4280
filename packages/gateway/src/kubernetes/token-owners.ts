import { formatTokenOwner, type DeclarativeDocument, type TokenOwner } from "@fairway/wire";
import { usernameKey } from "../identity/accounts/accounts.ts";

/** Namespace -> the owners whose keys its Token resources may write into Secrets: names of users, `team:SLUG` of teams. */
export type TokenOwners = Readonly<Record<string, readonly string[]>>;

const EVERY_USER = "*";
const EVERY_TEAM = formatTokenOwner({ team: "*" });

/**
 * Returns why a namespace may not obtain the key that a document asks the gateway to write; undefined if it may. Who
 * reads the Secret can spend the money of the owner, so only the operator of the gateway decides about owners.
 */
export function findOwnerRefusal(
  owners: TokenOwners,
  namespace: string,
  document: DeclarativeDocument,
): string | undefined {
  if (document.kind !== "Token" || !document.spec.writeSecretTo) return undefined;
  const allowed = Object.hasOwn(owners, namespace) ? (owners[namespace] ?? []) : [];
  const { owner } = document.spec;
  if (allowed.some((one) => isNamed(owner, one))) return undefined;
  const [kind, name] = owner.team === undefined ? ["user", owner.username ?? ""] : ["team", owner.team];
  const reader = kind === "user" ? "only the user reads the key" : "only owners and admins of the team manage the key";
  return `the namespace ${namespace} may not obtain keys of the ${kind} ${name}: name ${formatTokenOwner(owner)} in gitops.tokenOwners.${namespace} of the chart, or leave spec.writeSecretTo out, then ${reader}`;
}

/** Money of teams is opened by an entry about teams alone: a user cannot be named like one. */
function isNamed(owner: TokenOwner, entry: string): boolean {
  if (entry === EVERY_USER) return owner.team === undefined;
  if (entry === EVERY_TEAM) return owner.team !== undefined;
  return usernameKey(entry) === usernameKey(formatTokenOwner(owner)) && isOfTeam(entry) === (owner.team !== undefined);
}

function isOfTeam(entry: string): boolean {
  return entry.startsWith(formatTokenOwner({ team: "" }));
}
