/** The location of a sealed text, which cannot be opened at another location. */
export type SealedLocation = string & { readonly location: unique symbol };

export const channelKey = (id: number): SealedLocation => locationOf("channels.key_sealed", id);
export const channelText = (id: number, column: string): SealedLocation => locationOf(`channels.${column}`, id);
export const tokenKey = (id: number): SealedLocation => locationOf("tokens.key_sealed", id);
export const secondFactor = (userId: number): SealedLocation => locationOf("users.totp_secret", userId);
export const optionValue = (key: string): SealedLocation => locationOf("options.value", key);
export const redisEntry = (key: string): SealedLocation => locationOf("redis", key);
/** The page cursor of the logs, stored by the client. */
export const LOG_CURSOR: SealedLocation = locationOf("cursor", "logs");

function locationOf(column: string, row: number | string): SealedLocation {
  return `${column}/${row}` as SealedLocation;
}
