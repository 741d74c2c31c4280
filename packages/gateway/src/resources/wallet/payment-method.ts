const CARD = "stripe ";

/**
 * Returns the payment method of an order that is paid by card, so that another provider's notice or another currency
 * never pays it.
 */
export function buildCardMethod(currency: string): string {
  return `${CARD}${currency}`;
}

/** Returns the currency of an order; undefined if its provider has a single one. */
export function readCurrency(method: string): string | undefined {
  return method.startsWith(CARD) ? method.slice(CARD.length) : undefined;
}
