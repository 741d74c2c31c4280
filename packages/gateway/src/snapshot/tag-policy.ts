import { END_USER_TARGET, type FixedTags, type OptionValues, type TagPolicy } from "@fairway/wire";

/** What the operator has set about tags of calls. */
export interface TagSettings {
  /** Undefined if it says nothing. */
  readonly policy: TagPolicy | undefined;
  /** Headers of other products: the name in lower case, and the key of the tag. */
  readonly headers: readonly (readonly [header: string, key: string])[];
  /** Headers that name the end user. */
  readonly endUserHeaders: readonly string[];
}

/** Tags of a token, with the rules of its team. */
export interface OwnTags {
  readonly fixed: FixedTags | undefined;
  readonly policy: TagPolicy | undefined;
}

/** Returns undefined if the operator has set nothing, as for most installations. */
export function resolveTagSettings({ TagPolicy: policy, TagHeaders: headers }: OptionValues): TagSettings | undefined {
  const mapped = Object.entries(headers);
  const isPolicy = hasRules(policy);
  if (!isPolicy && mapped.length === 0) return undefined;
  return Object.freeze({
    policy: isPolicy ? policy : undefined,
    headers: mapped.filter(([, target]) => target !== END_USER_TARGET),
    endUserHeaders: mapped.filter(([, target]) => target === END_USER_TARGET).map(([name]) => name),
  });
}

/** Returns the tags of a token; a rule of the token goes before that of its team. */
export function resolveOwnTags(
  fixed: FixedTags | undefined,
  token: TagPolicy | undefined,
  team: TagPolicy | undefined,
): OwnTags | undefined {
  const policy = joinPolicies(token, team);
  return fixed || policy ? Object.freeze({ fixed, policy }) : undefined;
}

function joinPolicies(narrow: TagPolicy | undefined, wide: TagPolicy | undefined): TagPolicy | undefined {
  if (!wide || !hasRules(wide)) return narrow;
  if (!narrow) return wide;
  const endUser = narrow.end_user ?? wide.end_user;
  return { keys: { ...wide.keys, ...narrow.keys }, ...(endUser && { end_user: endUser }) };
}

function hasRules({ keys, end_user: endUser }: TagPolicy): boolean {
  return endUser !== undefined || (keys !== undefined && Object.keys(keys).length > 0);
}
