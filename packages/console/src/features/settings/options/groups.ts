import { isSecretOption, OPTION_KEYS, OPTIONS } from "@fairway/wire";
import type { OptionGroup, OptionKey, Status } from "@fairway/wire";
import type { en } from "../locale/en.ts";

export const TABS = ["personal", "operation", "prices", "system", "other"] as const;
export type Tab = (typeof TABS)[number];

type CardTitle = Extract<keyof typeof en, `card${string}`>;

/** The tab of each card; the cards of a tab follow this order. */
const CARDS: Readonly<
  Record<OptionGroup, { readonly tab: Exclude<Tab, "personal" | "prices">; readonly title: CardTitle }>
> = {
  general: { tab: "operation", title: "cardGeneral" },
  quota: { tab: "operation", title: "cardQuota" },
  prices: { tab: "operation", title: "cardPrices" },
  relay: { tab: "operation", title: "cardRelay" },
  monitoring: { tab: "operation", title: "cardMonitoring" },
  words: { tab: "operation", title: "cardWords" },
  logs: { tab: "operation", title: "cardLogs" },
  dashboard: { tab: "operation", title: "cardDashboard" },
  drawing: { tab: "operation", title: "cardDrawing" },
  server: { tab: "system", title: "cardServer" },
  login: { tab: "system", title: "cardLogin" },
  domains: { tab: "system", title: "cardDomains" },
  mail: { tab: "system", title: "cardMail" },
  github: { tab: "system", title: "cardGithub" },
  oidc: { tab: "system", title: "cardOidc" },
  linuxdo: { tab: "system", title: "cardLinuxdo" },
  wechat: { tab: "system", title: "cardWechat" },
  telegram: { tab: "system", title: "cardTelegram" },
  "human-check": { tab: "system", title: "cardHumanCheck" },
  payment: { tab: "system", title: "cardPayment" },
  worker: { tab: "system", title: "cardWorker" },
  content: { tab: "other", title: "cardContent" },
};

export interface Card {
  readonly group: OptionGroup;
  readonly title: CardTitle;
  readonly keys: readonly OptionKey[];
}

function holds(key: OptionKey, words: readonly string[]): boolean {
  const text = `${key} ${OPTIONS[key].about}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The cards of a tab; with words to find those of every tab, each with the options that have all of them. */
export function cardsOf(tab: Tab, find: string): Card[] {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = Object.keys(CARDS) as OptionGroup[];
  return groups
    .filter((group) => words.length > 0 || CARDS[group].tab === tab)
    .map((group) => ({
      group,
      title: CARDS[group].title,
      keys: OPTION_KEYS.filter((key) => OPTIONS[key].group === group && holds(key, words)),
    }))
    .filter((card) => card.keys.length > 0);
}

export type OptionTexts = Readonly<Partial<Record<string, string>>>;

/** What is stored, with the public site key, which the list leaves out because its name reads like a secret. */
export function withPublicTexts(listed: OptionTexts, status: Pick<Status, "turnstile_site_key">): OptionTexts {
  return { ...listed, TurnstileSiteKey: status.turnstile_site_key };
}

/** What was typed; of a secret "" means that it is emptied. */
export type Draft = Readonly<Partial<Record<OptionKey, string>>>;

/** A secret whose input is cleared stays as it is: it was never shown, so clearing it means nothing. */
export function typed(draft: Draft, key: OptionKey, text: string): Draft {
  if (text !== "" || !isSecretOption(key)) return { ...draft, [key]: text };
  const { [key]: _dropped, ...rest } = draft;
  return rest;
}

/** What was typed and differs from what is stored. */
export function changesOf(draft: Draft, stored: OptionTexts): Draft {
  const changed = Object.entries(draft).filter(
    ([key, text]) => isSecretOption(key as OptionKey) || text !== (stored[key] ?? ""),
  );
  return Object.fromEntries(changed) as Draft;
}
