/** The location of a sealed text, which cannot be opened at another location. */
export type SealedLocation = string & { readonly location: unique symbol };

export const channelKey = (id: number): SealedLocation => buildLocation("channels.key_sealed", id);
export const channelText = (id: number, column: string): SealedLocation => buildLocation(`channels.${column}`, id);
export const tokenKey = (id: number): SealedLocation => buildLocation("tokens.key_sealed", id);
export const secondFactor = (userId: number): SealedLocation => buildLocation("users.totp_secret", userId);
export const optionValue = (key: string): SealedLocation => buildLocation("options.value", key);
export const providerSecret = (slug: string): SealedLocation => buildLocation("identity_providers.secret_sealed", slug);
/** The address of an upload in progress at an upstream. */
export const uploadSession = (id: string): SealedLocation => buildLocation("upstream_objects.facts", id);
/** Address and secrets of an endpoint. */
export const webhookTarget = (id: number): SealedLocation => buildLocation("webhook_endpoints.target_sealed", id);
export const redisEntry = (key: string): SealedLocation => buildLocation("redis", key);
/** The page cursor of the logs, stored by the client. */
export const LOG_CURSOR: SealedLocation = buildLocation("cursor", "logs");

function buildLocation(column: string, row: number | string): SealedLocation {
  return `${column}/${row}` as SealedLocation;
}
