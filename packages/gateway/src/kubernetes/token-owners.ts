import type { DeclarativeDocument } from "@fairway/wire";
import { usernameKey } from "../identity/accounts/accounts.ts";

/** Namespace -> the users whose keys its Token resources may write into Secrets; `*` = all users. */
export type TokenOwners = Readonly<Record<string, readonly string[]>>;

const EVERYONE = "*";

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
  const { username } = document.spec.owner;
  const wanted = usernameKey(username);
  if (allowed.some((one) => one === EVERYONE || usernameKey(one) === wanted)) return undefined;
  return `the namespace ${namespace} may not obtain keys of the user ${username}: name the user in gitops.tokenOwners.${namespace} of the chart, or leave spec.writeSecretTo out, then only the user reads the key`;
}
