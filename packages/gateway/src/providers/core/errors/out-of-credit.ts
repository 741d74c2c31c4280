/** Phrases by which vendors and gateways say that the operator's account cannot pay. */
const PHRASES: readonly string[] = [
  "credit balance is too low",
  "insufficient (?:account |user )?(?:credits?|balance|funds)",
  "balance is (?:insufficient|too low|not enough|exhausted)",
  "(?:out of|no more|used (?:up )?all(?: available| of your| the)?|(?:any|requires? more)) credits",
  "credit limit (?:exceeded|reached)",
  "prepayment credits",
  "billing (?:hard |soft )?limit",
  "(?:check|update) your billing details",
  "billing to be enabled|enable billing",
  "specified api usage limits",
  "spend(?:ing)? limit",
  "budget has been exceeded|exceeded ?budget|max(?:imum)? budget",
  "payment[ _](?:instrument|method|required)",
  "organization has been restricted",
  "account is (?:overdue|in arrears|past due)|overdue[ -](?:balance|payment)|arrearage",
  "suspended (?:due to|because of) (?:insufficient|unpaid|billing)|failure to pay",
  "\u4f59\u989d\u4e0d\u8db3|\u6b20\u8d39",
];
const OUT_OF_CREDIT = new RegExp(PHRASES.join("|"), "i");
/** Some models and features require an account whose owner has verified their identity. */
const UNVERIFIED = /(?:organization|account) (?:must|needs to|has to) be verified/i;
/** Text of the client that a vendor repeats in quotes. */
const REPEATED = /(?<=[\s(:[])'[^']*'(?=[\s.,;:)\]]|$)/g;

/** Returns true if the operator's account cannot pay, or may not use what it pays for. */
export function isOutOfCredit(message: string): boolean {
  const own = message.replaceAll(REPEATED, "");
  return OUT_OF_CREDIT.test(own) || UNVERIFIED.test(own);
}

/** Returns true if only verification is missing: the account can pay for everything else, so its channel stays on. */
export function isUnverified(message: string): boolean {
  return UNVERIFIED.test(message.replaceAll(REPEATED, ""));
}
