import { isInScope, SCOPE_AREAS, type AccessScope, type ScopeArea } from "./scopes.ts";

/** What a call does: `spend` calls an upstream with a stored key, `destroy` cannot be undone. */
export type CallEffect = "read" | "write" | "spend" | "destroy";

/** What a call of the management API requires of its caller besides a role. */
export interface CallRights {
  readonly effect: CallEffect;
  /**
   * Parts of the API for which an access token needs a scope; it needs all of them. `any` requires a scope for any one
   * part, because the call itself shows nothing of the others. If the list is empty, anyone may call.
   */
  readonly areas: readonly ScopeArea[] | "any";
  /**
   * Access tokens are refused with `session_required`. `fresh` also requires a sign-in or a confirmation within the
   * last five minutes (`confirmation_required`); `session` is for calls that check this themselves or only remove
   * rights.
   */
  readonly stepUp: "fresh" | "session" | undefined;
}

export type Areas = ScopeArea | CallRights["areas"];
type StepUp = CallRights["stepUp"];

const rights = (effect: CallEffect, areas: Areas, stepUp: StepUp): CallRights => ({
  effect,
  areas: typeof areas === "string" && areas !== "any" ? [areas] : areas,
  stepUp,
});
export const read = (areas: Areas, stepUp?: StepUp) => rights("read", areas, stepUp);
export const write = (areas: Areas, stepUp?: StepUp) => rights("write", areas, stepUp);
export const spend = (areas: Areas, stepUp?: StepUp) => rights("spend", areas, stepUp);
export const destroy = (areas: Areas, stepUp?: StepUp) => rights("destroy", areas, stepUp);

/** Returns the level of scope that an effect needs: tokens with a read scope may only make calls that read. */
function toScopeLevel(effect: CallEffect): "read" | "write" {
  return effect === "read" ? "read" : "write";
}

/** Returns the first scope that a token with `scopes` lacks for a call; undefined if it may make the call. */
export function missingScope(
  scopes: readonly string[],
  { effect, areas }: Pick<CallRights, "effect" | "areas">,
): AccessScope | undefined {
  const level = toScopeLevel(effect);
  if (areas === "any") return SCOPE_AREAS.some((area) => isInScope(scopes, `${area}:${level}`)) ? undefined : level;
  return areas.map((area) => `${area}:${level}` as const).find((scope) => !isInScope(scopes, scope));
}
