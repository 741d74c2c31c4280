import type { ProviderAdapter } from "../../providers/core/types.ts";
import type { Current, Fields, InState } from "./kinds.ts";

const AS_WANTED: InState = { changed: {}, note: "" };
const NO_KEY = "it has no key, so it stays off";

/**
 * Disables a channel without a key, whatever its document says, because it could only fail. The document that adds the
 * key enables it.
 */
export function channelInState(
  wanted: Fields,
  current: Current | undefined,
  providers: readonly Pick<ProviderAdapter, "id" | "isKeyOptional">[],
): InState {
  if (providers.some(({ id, isKeyOptional }) => id === wanted["type"] && isKeyOptional)) return AS_WANTED;
  const before = current?.fields["key"] ?? "";
  const isNamed = wanted["enabled"] !== undefined;
  if ((wanted["key"] ?? before) !== "") {
    return current && before === "" && !isNamed ? { changed: { enabled: true }, note: "" } : AS_WANTED;
  }
  if (!current || isNamed) return { changed: { enabled: false }, note: NO_KEY };
  return current.fields["enabled"] === false ? { ...AS_WANTED, note: NO_KEY } : AS_WANTED;
}
