import { isHiddenOption, OPTION_KEYS, OPTIONS, type OptionGroup, type OptionKey } from "@fairway/wire";
import type { en } from "./locale/en.ts";

export const TABS = ["personal", "operation", "system", "other"] as const;
export type Tab = (typeof TABS)[number];

type CardTitle = Extract<keyof typeof en, `card${string}`>;

/** Where each card stands; the cards of a tab follow this order. */
const CARDS: Readonly<Record<OptionGroup, { readonly tab: Exclude<Tab, "personal">; readonly title: CardTitle }>> = {
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

/** Options whose stored value the server never tells: an empty field leaves them as they are. */
export function isWriteOnly(key: OptionKey): boolean {
  return isHiddenOption(key) && OPTIONS[key].shownAs === undefined;
}
