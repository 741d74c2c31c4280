import { formatQuota, type WebhookLanguage } from "@fairway/wire";
import { findEventType } from "../../events/catalogue.ts";
import type { Severity } from "../../storage/tables/schema-events.ts";
import type { StoredEvent } from "../types.ts";
import { findPageAddress } from "./page-address.ts";
import { CHANGES, LABELS, TITLES, WORDS } from "./titles.ts";

/** How money is shown. */
export interface MoneyStyle {
  readonly quotaPerUnit: number;
  readonly inCurrency: boolean;
}

export interface TextSettings {
  readonly language: WebhookLanguage;
  readonly systemName: string;
  /** Without a slash at its end; "" if unknown. */
  readonly serverAddress: string;
  readonly money: MoneyStyle;
}

/** Events of one type and owner. */
export interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

/** A message in plain words; a format adds its signs. Nothing in it is escaped. */
export interface TextMessage {
  readonly title: string;
  readonly severity: Severity;
  readonly sections: readonly Section[];
  /** Number of events. */
  readonly count: number;
  readonly link: { readonly words: string; readonly url: string } | undefined;
}

const SHOWN_IN_A_GROUP = 5;
const MAX_SECTIONS = 10;
const MAX_VALUE_CHARACTERS = 300;
const MONEY: ReadonlySet<string> = new Set(["balance", "limit", "used", "quota"]);
const TIMES: ReadonlySet<string> = new Set([
  "since",
  "until",
  "period_start",
  "period_end",
  "window_end",
  "reached_at",
  "forecast_at",
  "expires_at",
  "last_used_at",
]);
const RANKS: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 };

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return RANKS[severity] >= RANKS[least];
}

/** Writes one message about all events; events of one type and owner share a section with a count. */
export function renderText(events: readonly StoredEvent[], settings: TextSettings): TextMessage {
  const groups = groupEvents(events);
  const all = groups.map((group) => renderSection(group, settings));
  const sections = all.slice(0, MAX_SECTIONS);
  const left = groups.slice(MAX_SECTIONS).reduce((sum, group) => sum + group.length, 0);
  if (left > 0) sections.push({ title: fillCount(WORDS.more[settings.language], left), lines: [] });
  const [only] = all;
  const severity = events.reduce<Severity>(
    (worst, event) => (isAtLeast(event.severity, worst) ? event.severity : worst),
    "info",
  );
  const head = WORDS.severity[severity][settings.language];
  const title = only && all.length === 1 ? only.title : fillCount(WORDS.events[settings.language], events.length);
  return {
    title: `${settings.systemName} · ${head}: ${title}`,
    severity,
    sections,
    count: events.length,
    link:
      settings.serverAddress === ""
        ? undefined
        : {
            words: WORDS.open[settings.language],
            url: findPageAddress(
              events.map(({ type }) => type),
              settings.serverAddress,
            ),
          },
  };
}

function groupEvents(events: readonly StoredEvent[]): StoredEvent[][] {
  const groups = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const key = `${event.type} ${event.team_id} ${event.user_id}`;
    const group = groups.get(key);
    if (group) group.push(event);
    else groups.set(key, [event]);
  }
  return [...groups.values()];
}

function renderSection(group: readonly StoredEvent[], settings: TextSettings): Section {
  const [first] = group;
  if (first && group.length === 1) return { title: renderTitle(first, settings), lines: renderLines(first, settings) };
  const { language } = settings;
  const shown = group.slice(0, SHOWN_IN_A_GROUP).map((event) => renderTitle(event, settings));
  const left = group.length - shown.length;
  return {
    title: `${first?.type ?? ""} × ${group.length}`,
    lines: left > 0 ? [...shown, fillCount(WORDS.more[language], left)] : shown,
  };
}

export function renderTitle(
  { type, data }: Pick<StoredEvent, "type" | "data">,
  { language }: Pick<TextSettings, "language">,
): string {
  const titles = findEventType(type) && TITLES[type as keyof typeof TITLES];
  if (!titles) return type;
  return titles[language].replace(/\{(\w+)\}/g, (_, name: string) => readWord(data[name]));
}

function renderLines({ data }: StoredEvent, settings: TextSettings): string[] {
  return Object.entries(LABELS).flatMap(([name, label]) => {
    const value = data[name];
    if (value === undefined || value === null || value === "") return [];
    return [`${label[settings.language]}: ${renderValue(name, value, settings)}`];
  });
}

function renderValue(name: string, value: unknown, { money, language }: TextSettings): string {
  if (name === "change" && isChange(value)) return CHANGES[value][language];
  if (Number.isSafeInteger(value) && typeof value === "number" && MONEY.has(name)) return formatQuota(value, money);
  if (typeof value === "number" && TIMES.has(name) && value > 0)
    return `${new Date(value * 1_000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return readWord(value);
}

function isChange(value: unknown): value is keyof typeof CHANGES {
  return typeof value === "string" && Object.hasOwn(CHANGES, value);
}

function readWord(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return "–";
  const text = String(value).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}

function fillCount(text: string, n: number): string {
  return text.replace("{n}", String(n));
}
