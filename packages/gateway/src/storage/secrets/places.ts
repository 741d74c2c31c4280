/** Where a sealed text belongs; it opens nowhere else. */
export type Place = string & { readonly place: unique symbol };

export const channelKey = (id: number): Place => placeOf("channels.key_sealed", id);
export const tokenKey = (id: number): Place => placeOf("tokens.key_sealed", id);
export const secondFactor = (userId: number): Place => placeOf("users.totp_secret", userId);
export const optionValue = (key: string): Place => placeOf("options.value", key);
export const redisEntry = (key: string): Place => placeOf("redis", key);
/** The position of a page in the logs, which the client keeps. */
export const LOG_CURSOR: Place = placeOf("cursor", "logs");

function placeOf(column: string, row: number | string): Place {
  return `${column}/${row}` as Place;
}
