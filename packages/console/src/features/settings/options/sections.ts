import { OPTION_KEYS, OPTIONS, type OptionGroup, type OptionKey } from "@fairway/wire";
import type { en } from "../locale/en.ts";
import type { OptionWords } from "./words.ts";

export const TABS = ["personal", "operation", "prices", "system", "other"] as const;
export type Tab = (typeof TABS)[number];
export type OptionTab = Exclude<Tab, "personal" | "prices">;

type Title = Extract<keyof typeof en, `card${string}`>;

/** Parts of the settings, by tab, in the order of the index. */
const SECTIONS = {
  general: { tab: "operation", title: "cardGeneral" },
  quota: { tab: "operation", title: "cardQuota" },
  groups: { tab: "operation", title: "cardGroups" },
  prices: { tab: "operation", title: "cardPrices" },
  routing: { tab: "operation", title: "cardRouting" },
  limits: { tab: "operation", title: "cardLimits" },
  batches: { tab: "operation", title: "cardBatches" },
  cache: { tab: "operation", title: "cardCache" },
  monitoring: { tab: "operation", title: "cardMonitoring" },
  words: { tab: "operation", title: "cardWords" },
  guardrail: { tab: "operation", title: "cardGuardrail" },
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
  cards: { tab: "system", title: "cardCards" },
  worker: { tab: "system", title: "cardWorker" },
  content: { tab: "other", title: "cardContent" },
} as const satisfies Record<string, { readonly tab: OptionTab; readonly title: Title }>;

export type SectionId = keyof typeof SECTIONS;

const SECTION_IDS = Object.keys(SECTIONS) as readonly SectionId[];

/** Options that have a section of their own within their group. */
const APART: readonly (readonly [OptionGroup, RegExp, SectionId])[] = [
  ["prices", /^(GroupRatio|UserUsableGroups|AutoGroups)$/, "groups"],
  ["payment", /^TopupGroupRatio$/, "groups"],
  ["payment", /^Stripe/, "cards"],
  ["words", /^Guardrail/, "guardrail"],
  ["relay", /^(Batch|File)/, "batches"],
  ["prices", /^Batch/, "batches"],
  ["quota", /^Batch/, "batches"],
  ["relay", /^(ResponseCache|KeptResponses)/, "cache"],
  ["relay", /Limits$|Concurrency$|^ModelRequestRateLimit|^ChannelQueue/, "limits"],
];

function findSection(key: OptionKey): SectionId {
  const { group } = OPTIONS[key];
  const apart = APART.find(([of, pattern]) => of === group && pattern.test(key));
  if (apart) return apart[2];
  return group === "relay" ? "routing" : group;
}

export interface Section {
  readonly id: SectionId;
  readonly tab: OptionTab;
  readonly title: Title;
  readonly keys: readonly OptionKey[];
}

const ALL: readonly Section[] = SECTION_IDS.map((id) => ({
  id,
  ...SECTIONS[id],
  keys: OPTION_KEYS.filter((key) => findSection(key) === id),
}));

export function listSections(tab: Tab): readonly Section[] {
  return ALL.filter((section) => section.tab === tab);
}

/** Returns the section of that name, or the first of the tab. */
export function sectionNamed(tab: OptionTab, name: string): Section | undefined {
  const sections = listSections(tab);
  return sections.find(({ id }) => id === name) ?? sections[0];
}

/** Returns the sections whose options contain all words in their name, label or description. */
export function sectionsFound(find: string, words: OptionWords): Section[] {
  const wanted = find.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (key: OptionKey) => {
    const text = `${key} ${words.label(key)} ${words.about(key)} ${OPTIONS[key].about}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  return ALL.map((section) => ({ ...section, keys: section.keys.filter(holds) })).filter(({ keys }) => keys.length > 0);
}
